/* C++17: threads, futures, condition variables, the filesystem library, exceptions. */
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <regex>
#include <shared_mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

static void files()
{
	fs::create_directories("a/b/c");
	std::ofstream("a/one") << "first";
	std::ofstream("a/b/two") << std::string(5000, 'x');
	fs::create_symlink("one", "a/link");
	fs::create_hard_link("a/one", "a/hard");
	fs::permissions("a/one", fs::perms::owner_read);
	std::vector<std::string> all;
	for (const auto &e : fs::recursive_directory_iterator("a")) {
		std::ostringstream line;
		line << e.path().string() << (e.is_directory() ? "/" : e.is_symlink() ? "@" : "") << " "
		     << (e.is_regular_file() ? fs::file_size(e) : 0);
		all.push_back(line.str());
	}
	std::sort(all.begin(), all.end());
	for (const auto &line : all)
		std::cout << line << "\n";
	std::cout << fs::hard_link_count("a/one") << " " << fs::read_symlink("a/link").string() << " "
		  << std::oct << static_cast<int>(fs::status("a/one").permissions()) << std::dec << "\n";
	fs::copy("a", "copy", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
	fs::resize_file("copy/b/two", 10);
	fs::rename("copy/one", "copy/renamed");
	std::cout << fs::file_size("copy/b/two") << " " << fs::exists("copy/one") << " "
		  << fs::equivalent("a/one", "a/hard") << " " << fs::remove_all("copy") << "\n";
	std::error_code err;
	fs::remove("a", err);
	std::cout << err.message() << "; " << fs::weakly_canonical("a/./b/../none").filename().string() << "\n";
	try {
		std::cout << fs::file_size("none");
	} catch (const fs::filesystem_error &e) {
		std::cout << e.code().value() << " " << e.path1().string() << "\n";
	}
}

static void threads()
{
	std::mutex m;
	std::condition_variable cv;
	std::shared_mutex shared;
	std::map<int, int> seen;
	std::atomic<int> turns{0};
	std::vector<std::thread> all;
	int turn = 0;

	for (int i = 0; i < 8; i++)
		all.emplace_back([&, i] {
			for (int round = 0; round < 50; round++) {
				std::unique_lock lock(m);
				cv.wait(lock, [&] { return turn % 8 == i; });
				turn++;
				turns++;
				cv.notify_all();
			}
			std::unique_lock lock(shared);
			seen[i] = i * i;
		});
	for (auto &t : all)
		t.join();
	std::shared_lock lock(shared);
	std::cout << turns << " " << std::accumulate(seen.begin(), seen.end(), 0, [](int s, const auto &p) {
		return s + p.second;
	}) << "\n";
	auto f = std::async(std::launch::async, []() -> int { throw std::runtime_error("from a thread"); });
	try {
		f.get();
	} catch (const std::exception &e) {
		std::cout << e.what() << "\n";
	}
	std::promise<std::string> p;
	std::thread([&p] { p.set_value_at_thread_exit("at the thread's end"); }).detach();
	std::cout << p.get_future().get() << "\n";
	std::cout << std::regex_replace("a1b22", std::regex("[0-9]+"), "#") << "\n";
}

int main()
{
	files();
	threads();
	return 6;
}
