-- ARGV: time, the most jobs that any step looks at, how long ago the last repair may be at most,
-- and how often there is to be one. The steps are those of the protocol.
local limit, rest_max, repair_every = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local due = promote(limit)

local expired, recovered, quarantined, lost = 0, 0, 0, 0
local function crash(holder, id, value)
  count('t.crashed', 1)
  local head, mark, cancelling = leave(holder, id, value)
  if call('HEXISTS', K .. 'jobs', id) == 0 then return ghost(id) end
  mark.c = (mark.c or 0) + 1
  if head.crashes <= mark.c then
    mark.er = 'its worker was lost ' .. mark.c .. ' times'
    quarantined = quarantined + 1
    ended(id, head, mark, 'quarantined')
  elseif cancelling then
    ended(id, head, mark, 'cancelled')
  else
    recovered = recovered + 1
    come_back(id, head, mark)
  end
  tell_all()
end

for _, holder in ipairs(call('ZRANGE', K .. 'leases', '-inf', now, 'BYSCORE')) do
  if lost == limit then break end
  local held = held_by(holder)
  local taken = math.min(#held, limit - lost)
  for i = 1, taken do crash(holder, held[i][1], held[i][2]) end
  lost = lost + taken
  if taken == #held then
    call('ZREM', K .. 'leases', holder)
    call('SREM', K .. 'holders', holder)
    if 0 < taken then expired = expired + 1 end
  end
end
count('t.leases_expired', expired)
put_back()
returned, freed = {}, {}

-- Ended jobs that are kept no longer, the earliest first.
local forgotten = 0
local function forget_old(key, max, until_score)
  local too_many = math.max(call('ZCARD', key) - max, 0)
  local out = call('ZCOUNT', key, '-inf', until_score)
  local going = math.min(math.max(too_many, out), limit - forgotten)
  if going <= 0 then return end
  for _, id in ipairs(call('ZRANGE', key, 0, going - 1)) do
    local body = call('HGET', K .. 'jobs', id)
    forget(id, body and head_of(head_text(body)) or PLAIN, mark_of(id))
    call('ZREM', key, id)
  end
  forgotten = forgotten + going
end
forget_old(K .. 'until:done', conf.done_max or 100000, now)
forget_old(K .. 'until:dead', conf.dead_max or 10000, now - (conf.dead_keep or 15552000000))

-- Unique keys that ran out. One may have been taken anew since, for longer.
for _, key in ipairs(call('ZRANGE', K .. 'unique:until', '-inf', now, 'BYSCORE',
  'LIMIT', 0, limit)) do
  local taken = call('HGET', K .. 'unique', key)
  if taken and string.sub(taken, 33, 33) == 'f' and tonumber(string.sub(taken, 34)) <= now then
    call('HDEL', K .. 'unique', key)
  end
  call('ZREM', K .. 'unique:until', key)
end

-- What a raised limit freed, key by key.
local let_go = 0
local function free_keys()
  if not conf.raised then return end
  local keys = call('SMEMBERS', K .. 'lines')
  table.sort(keys)
  for _, key in ipairs(keys) do
    local room = (conf.key_max or math.huge) - tonumber(call('HGET', K .. 'keys', key) or '0')
    while 0 < room do
      if let_go == limit then return end
      if not free_line(key) then break end
      let_go, room = let_go + 1, room - 1
    end
  end
  set_conf('raised', nil)
end
free_keys()

write()
-- The next repair is told to all processes by the count of its time, with the store's clock. One
-- that lies further ahead than any was set was set by a clock that has jumped.
local repair_at = tonumber(call('HGET', K .. 'counts', 'repair_at') or '0')
if 0 < repaired or repair_at <= now or now + rest_max < repair_at then
  repaired = repair(limit)
  count('t.repaired', repaired)
  -- Where something was put right there may be more; a search says itself when it goes on.
  local rest = tonumber(call('HGET', K .. 'repair', 'rest') or '') or math.huge
  repair_at = 0 < repaired and 0 or math.min(now + repair_every, math.max(rest, now))
  call('HSET', K .. 'counts', 'repair_at', string.format('%d', repair_at))
  write()
end

-- Whoever was woken and then lost took the wake-up along; jobs that wait are announced again.
if 0 < tonumber(call('HGET', K .. 'counts', 'ready') or '0') then woken = true end
finish()
local more = limit == due or limit == lost or limit == forgotten or limit == let_go
return { due, expired, recovered, quarantined, forgotten, repaired, more and 1 or 0 }
