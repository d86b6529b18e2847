-- ARGV: time, how many calls are joined, mode, then the jobs. Mode P is for jobs with nothing
-- special about them: id and body each. Mode X adds what the script must know at once.
local joined, mode = tonumber(ARGV[2]), ARGV[3]
local stamp = string.format('%014d', now)
local waiting_max = conf and conf.waiting_max or 10000000
-- One job alone is what most producers send. Numbers are given as texts: Redis would print them.
if mode == 'P' and #ARGV == 5 and not (conf and conf.tenants) then
  local jobs, id = K .. 'jobs', ARGV[4]
  if call('HLEN', jobs) < waiting_max and call('HSETNX', jobs, id, stamp .. ARGV[5]) == 1 then
    call('RPUSH', K .. 'lane:5:', id)
    call('HINCRBY', K .. 'counts', 'ready', '1')
    local total = call('HINCRBY', K .. 'counts', 't.submitted', '1')
    if not (conf and conf.paused) then call('ZADD', K .. 'wake', '0', 'w') end
    return total == 1 and 2 or 1
  end
end
if mode == 'P' and not (conf and conf.tenants) then
  local ids, fields, known = {}, {}, {}
  local count, fresh = 0, true
  for i = 4, #ARGV, 2 do
    local id = ARGV[i]
    count = count + 1
    ids[count] = id
    fields[count * 2 - 1] = id
    fields[count * 2] = stamp .. ARGV[i + 1]
    fresh = fresh and not known[id]
    known[id] = true
  end
  local there = fetched(K .. 'jobs', ids)
  for i = 1, count do fresh = fresh and not there[i] end
  if fresh and call('HLEN', K .. 'jobs') + count <= waiting_max then
    chunked('HSET', K .. 'jobs', fields)
    chunked('RPUSH', K .. 'lane:5:', ids)
    call('HINCRBY', K .. 'counts', 'ready', count)
    local total = call('HINCRBY', K .. 'counts', 't.submitted', count)
    if not (conf and conf.paused) then call('ZADD', K .. 'wake', 0, 'w') end
    return total == count and 2 or 1
  end
end
