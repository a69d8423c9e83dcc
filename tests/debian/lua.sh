# Tables, coroutines, files, processes, the garbage collector.
lua5.4 -e '
local t = {} for i = 1, 10 do t[i] = i * i end print(table.concat(t, " "))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) print(co(), co(), co())
local f = assert(io.open("f", "w")) for i = 1, 1000 do f:write(i, "\n") end f:close()
local sum = 0 for line in io.lines("f") do sum = sum + tonumber(line) end print(sum)
print(io.popen("seq 3 | tac"):read("a"))
for i = 1, 200000 do local x = { i } end collectgarbage() print(collectgarbage("count") < 10000)
print(pcall(error, "caught")) print(string.format("%5.2f|%-5s|%x", 3.14159, "ab", 255)) print(os.rename("none", "f"))
os.exit(2)'
