-- KEYS[1] is what all keys of the queue begin with.
local K, call = KEYS[1], redis.call
-- Nothing unusual has been said or seen in a queue without `conf`; that is the fast path.
local conf = call('GET', K .. 'conf')
if conf then conf = cjson.decode(conf) end
-- Lua's stack holds some 8,000 values; a thousand jobs with two values each are well below.
local function chunked(command, key, values)
  local count, got = #values, 0
  if count <= 2000 then
    if 0 < count then got = call(command, key, unpack(values)) end
    return got
  end
  for from = 1, count, 2000 do
    got = got + call(command, key, unpack(values, from, math.min(from + 1999, count)))
  end
  return got
end
local function fetched(key, fields)
  local count = #fields
  if count == 0 then return {} end
  if count <= 2000 then return call('HMGET', key, unpack(fields)) end
  local all = {}
  for from = 1, count, 2000 do
    local part = call('HMGET', key, unpack(fields, from, math.min(from + 1999, count)))
    for i = 1, #part do all[from + i - 1] = part[i] end
  end
  return all
end
