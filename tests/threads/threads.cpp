// C++'s threads: what the standard library makes of pthreads. Prints the same on every run.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

class channel
{
	std::mutex lock;
	std::condition_variable changed;
	std::queue<int> values;

      public:
	void put(int value)
	{
		std::lock_guard<std::mutex> hold(lock);
		values.push(value);
		changed.notify_one();
	}
	int get()
	{
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [this] { return !values.empty(); });
		int value = values.front();
		values.pop();
		return value;
	}
};

long sum_of(int from, int to)
{
	std::vector<long> v(to - from);

	std::iota(v.begin(), v.end(), from);
	return std::accumulate(v.begin(), v.end(), 0L);
}

} // namespace

int main()
{
	std::vector<std::thread> threads;
	std::atomic<int> hits{0};
	channel c;
	long sum = 0;

	for (int i = 0; i < 6; i++)
		threads.emplace_back([&, i] {
			for (int n = 0; n < 100; n++) {
				hits++;
				c.put(i);
			}
		});
	for (int n = 0; n < 600; n++)
		sum += c.get();
	for (auto &t : threads)
		t.join();
	std::printf("threads: %d %ld\n", hits.load(), sum);

	std::vector<std::future<long>> parts;
	for (int i = 0; i < 4; i++)
		parts.push_back(std::async(std::launch::async, sum_of, i * 1000, i * 1000 + 1000));
	sum = 0;
	for (auto &p : parts)
		sum += p.get();
	std::printf("futures: %ld\n", sum);

	auto bad = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown in a thread"); });
	try {
		bad.get();
	} catch (const std::exception &e) {
		std::printf("caught: %s\n", e.what());
	}
	return 3;
}
