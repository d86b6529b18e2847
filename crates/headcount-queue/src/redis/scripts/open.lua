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
return { 'open' }
