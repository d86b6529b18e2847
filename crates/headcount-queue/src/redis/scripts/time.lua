-- ARGV[1] is the time in milliseconds, or 0 for the store's clock.
local now = tonumber(ARGV[1])
if now == 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
