-- Groups of mode mix that were formed by pool.lua: read once more, released or given up whole, and gone (DESIGN 8.6, 9).

-- Named fields: settings. Formed groups that were not released: number, audience, node, raised, bucket, then their members.
local function ms_pool_unreleased(keys, a)
  local p, groups = open_pool(keys[1], (named(a))), {}
  for _, number in ipairs(redis.call('ZRANGE', k(p, 'formed'), 0, 63)) do
    local f = redis.call('HMGET', k(p, 'g', number), 'a', 'n', 'r', 'b')
    groups[#groups + 1] = {number, f[1], f[2], f[3], f[4], redis.call('LRANGE', k(p, 'm', number), 0, -1)}
  end
  return groups
end

local function drop_formed(p, number)
  redis.call('DEL', k(p, 'g', number), k(p, 'm', number))
  return redis.call('ZREM', k(p, 'formed'), number) == 1
end

-- Named fields: settings, number (the group's), header, payload; then for each party: name, records. Released once.
local function ms_pool_release(keys, a)
  local f, rows = named(a)
  local p = open_pool(keys[1], f)
  if not drop_formed(p, f.number) then return 0 end
  append_event(p.prefix, 'RELEASED', p.salt(), f.header, f.payload)
  outbox_add(p.prefix, p.epoch, f.number, a, rows)
  return 1
end

-- Named fields: settings, number (the group's), reason. A group that breaks an invariant is given up as a whole.
local function ms_pool_withhold(keys, a)
  local f = named(a)
  local p = open_pool(keys[1], f)
  local members = redis.call('LRANGE', k(p, 'm', f.number), 0, -1)
  if not drop_formed(p, f.number) then return 0 end
  for i = 1, #members, 6 do suppressed_event(p, members[i], f.reason) end
  return 1
end

redis.register_function('ms_pool_release', ms_pool_release)
redis.register_function('ms_pool_withhold', ms_pool_withhold)
redis.register_function{function_name = 'ms_pool_unreleased', callback = ms_pool_unreleased, flags = {'no-writes'}}
