-- The jobs of a state in the order of their listing: ids from a place on, and whether more follow.
local function walk_lane(key, prefix, visit)
  local passed, from = {}, 0
  while true do
    local entries = call('LRANGE', key, from, from + 999)
    for _, entry in ipairs(entries) do
      local id = string.sub(entry, 1, 32)
      local buried = 0
      if conf.tombs then buried = tonumber(call('HGET', K .. 'tombs', prefix .. id) or '0') end
      if (passed[id] or 0) < buried then
        passed[id] = (passed[id] or 0) + 1
      elseif visit(id) then
        return true
      end
    end
    if #entries < 1000 then return false end
    from = from + 1000
  end
end

local function lanes_in_order()
  local lanes = {}
  if conf.tenants then
    for _, lane in ipairs(call('HKEYS', K .. 'lens')) do lanes[#lanes + 1] = lane end
  else
    for p in string.gmatch(conf.prios, '%d') do lanes[#lanes + 1] = p .. ':' end
  end
  table.sort(lanes)
  return lanes
end

local function walk_ready(visit)
  for _, lane in ipairs(lanes_in_order()) do
    if walk_lane(K .. 'lane:' .. lane, '', visit) then return end
  end
  local keys = call('SMEMBERS', K .. 'lines')
  table.sort(keys)
  for _, key in ipairs(keys) do
    if walk_lane(line_key(key), 'L', visit) then return end
  end
end

local function walk_later(letter, visit)
  local from = 0
  while true do
    local members = call('ZRANGE', K .. 'later', from, from + 999)
    for _, member in ipairs(members) do
      if string.sub(member, 33, 33) == letter and visit(string.sub(member, 1, 32)) then return end
    end
    if #members < 1000 then return end
    from = from + 1000
  end
end

local function walk_sorted(ids, visit)
  table.sort(ids)
  for _, id in ipairs(ids) do
    if visit(id) then return end
  end
end

local function running_ids()
  local ids = {}
  for _, one in ipairs(call('ZRANGE', K .. 'leases', 0, -1)) do
    for _, id in ipairs(call('HKEYS', K .. 'held:' .. one)) do ids[#ids + 1] = id end
  end
  return ids
end

-- Visits the jobs of a state until `visit` says that it is enough.
local function walk(state, visit)
  if state == 'ready' then
    walk_ready(visit)
  elseif state == 'scheduled' then
    walk_later('s', visit)
  elseif state == 'retrying' then
    walk_later('r', visit)
  elseif state == 'running' then
    walk_sorted(running_ids(), visit)
  else
    walk_sorted(call('ZRANGE', K .. 'in:' .. state, 0, -1), visit)
  end
end
