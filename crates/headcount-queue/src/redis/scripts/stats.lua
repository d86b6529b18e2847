-- ARGV: time. Heads of lanes are looked at for the most urgent priority that has jobs.
local oldest = -1
local function head_due(lane)
  walk_lane(K .. 'lane:' .. lane, '', function(id)
    local due = mark_of(id).due
    if not due then
      local body = call('HGET', K .. 'jobs', id)
      due = body and tonumber(string.sub(body, 1, 14))
    end
    if due and (oldest < 0 or due < oldest) then oldest = due end
    return true
  end)
end

local urgent
for _, lane in ipairs(lanes_in_order()) do
  local p = string.sub(lane, 1, 1)
  if urgent and urgent ~= p then break end
  head_due(lane)
  if 0 <= oldest then urgent = p end
end
local due = call('ZRANGE', K .. 'later', 0, 0, 'WITHSCORES')[2]
return {
  now, oldest, due or '', conf.paused and 1 or 0, call('ZCARD', K .. 'leases'),
  call('HGETALL', K .. 'counts'),
}
