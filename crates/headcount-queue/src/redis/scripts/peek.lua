-- ARGV: time. How many milliseconds until a lease may find something; -1 when somebody must act.
if conf.paused then return -1 end
local counts = call('HMGET', K .. 'counts', 'ready', 'running')
local running = tonumber(counts[2] or '0')
if conf.running_max and conf.running_max <= running then return -1 end
local wait = -1
local due = call('ZRANGE', K .. 'later', 0, 0, 'WITHSCORES')[2]
if due then wait = math.max(tonumber(due) - now, 0) end
if call('SCARD', K .. 'aside') < tonumber(counts[1] or '0') then
  local rest = 0
  if conf.rate_each then
    local theoretical = tonumber(call('GET', K .. 'rate') or '0')
    local allowed = theoretical + conf.rate_each - conf.rate_each * conf.rate_jobs
    rest = math.ceil(math.max(allowed - now * 1000, 0) / 1000)
  end
  if wait < 0 or rest < wait then wait = rest end
end
return wait
