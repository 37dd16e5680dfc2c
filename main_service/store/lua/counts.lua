-- What metrics show of the Main Service: counts, of nobody.
--
--   withheld   hash TYPE|REASON → records withheld since the store was made, counted in the step that withholds them

local function count_withheld(prefix, kind, reason)
  redis.call('HINCRBY', prefix .. ':withheld', kind .. '|' .. reason, 1)
end

-- ARGV: name of a pool or of slots below the prefix, name of a sorted set of ids in it, first, last.
-- The people who own these waiting records; false where a record went meanwhile.
local function ms_waiting(keys, a)
  local base, people = keys[1] .. ':' .. a[1], {}
  for _, id in ipairs(redis.call('ZRANGE', base .. ':' .. a[2], a[3], a[4])) do
    people[#people + 1] = redis.call('HGET', base .. ':r:' .. id, 'u')
  end
  return people
end

redis.register_function{function_name = 'ms_waiting', callback = ms_waiting, flags = {'no-writes'}}
