-- ARGV: the version that is written, and whether to begin a queue that is not there. Refuses what
-- another application or a newer version wrote, before anything is touched.
local K, call = KEYS[1], redis.call
local kinds = { v = 'string', conf = 'string', jobs = 'hash', marks = 'hash', counts = 'hash',
  leases = 'zset', later = 'zset', wake = 'zset' }
for name, kind in pairs(kinds) do
  local found = call('TYPE', K .. name).ok
  if found ~= 'none' and found ~= kind then
    return { 'foreign', K .. name, found, kind }
  end
end
local version = call('GET', K .. 'v')
if version and tonumber(version) == nil then return { 'foreign', K .. 'v', version, 'version' } end
if version and tonumber(ARGV[1]) < tonumber(version) then return { 'newer', version } end
if not version then
  if ARGV[2] == '0' then return { 'none' } end
  if call('EXISTS', K .. 'jobs') == 0 or call('EXISTS', K .. 'counts') == 1 then
    call('SET', K .. 'v', ARGV[1])
  else
    return { 'foreign', K .. 'jobs', 'hash', 'job' }
  end
end
-- A server that died or gave way to its replica may have forgotten its last moments, and with them
-- epochs that are still in somebody's hands. Whoever writes on a new connection has them go on from
-- the time, in microseconds: no store has made as many leases.
if ARGV[2] == '1' then
  local time = call('TIME')
  local least = time[1] * 1000000 + time[2]
  local epoch = tonumber(call('HGET', K .. 'counts', 'epoch') or '') or 0
  if epoch < least then call('HSET', K .. 'counts', 'epoch', string.format('%d', least)) end
end
return { 'open' }
