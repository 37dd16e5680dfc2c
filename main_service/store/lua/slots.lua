-- Slots of location queries and commands (DESIGN 8.8, 8.9). What a close does is decided by the pure function that the
-- auditor runs too; here it is read and applied, atomically, unless a withdrawal came in between.
-- Everything of an epoch and kind lies below P = PREFIX:slots:EPOCH:KIND.
--
--   P:state  hash: arrivals, revision, horizon, closed, groups      P:due    sorted set of ids by end of their slot
--   P:r:ID   hash: b record, v arrival, d depth, p payload, u person, a audience
--   P:taken:U  set audience|slot of a person's                      P:by:U   set of a person's ids
--   P:who    set of people with a P:taken:U
--   P:formed sorted set of groups not released                      P:g:N, P:m:N   a formed group, its members

local function open_slots(prefix, epoch, kind, seed)
  return {prefix = prefix, epoch = epoch, kind = kind, salt = salts_of(seed), base = prefix .. ':slots:' .. epoch .. ':' .. kind}
end

local function slot_gone(p, id)
  local person = redis.call('HGET', k(p, 'r', id), 'u')
  redis.call('SREM', k(p, 'by', person), id)
  redis.call('ZREM', k(p, 'due'), id)
  redis.call('DEL', k(p, 'r', id))
end

local function slot_suppressed(p, id, reason, now)
  local header = string.format('{"close":"%s","epoch":%s,"kind":"%s","reason":"%s","session":"%s"}', now, p.epoch, p.kind,
    reason, hex(id))
  append_event(p.prefix, 'SUPPRESSED', p.salt(), header, '')
  count_withheld(p.prefix, p.kind, reason)
end

-- f: session, person, audience, record, depth, starts, ends, payload (the event's too), header, spent (1: its place is one too many)
local function slot_submit(p, f)
  local state = redis.call('HMGET', k(p, 'state'), 'horizon', 'closed')
  if state[2] == '1' then return {'epoch_over'} end
  if f.spent == '1' then return {'place_budget'} end
  local id, person = f.session, f.person
  if redis.call('EXISTS', k(p, 'r', id)) == 1 then return {'duplicate'} end
  if state[1] and tonumber(f.ends) <= tonumber(state[1]) then return {'LATE', state[1]} end
  if f.one_each == '1' then
    redis.call('SADD', k(p, 'who'), person)
    if redis.call('SADD', k(p, 'taken', person), f.audience .. '|' .. f.starts) == 0 then return {'slot_quota'} end
  end
  local arrival = redis.call('HINCRBY', k(p, 'state'), 'arrivals', 1)
  redis.call('HSET', k(p, 'r', id), 'b', f.record, 'v', arrival, 'd', f.depth, 'p', f.payload, 'u', person, 'a', f.audience)
  redis.call('ZADD', k(p, 'due'), f.ends, id)
  redis.call('SADD', k(p, 'by', person), id)
  append_event(p.prefix, 'BUFFERED', p.salt(), f.header, f.payload)
  return {'buffered'}
end

-- Named fields: epoch, kind, salts (a seed), what slot_submit takes (one_each: 1 where there are no rounds), version (of the
--       consent); salt of SUPPRESSED
local function ms_slot_log(keys, a)
  local f = named(a)
  local p, session = open_slots(keys[1], f.epoch, f.kind, f.salts), f.session
  if not redis.call('ZSCORE', mkey(p.prefix, 'pending'), session) then return {'duplicate'} end
  local why = not_allowed(p.prefix, f.person, f.version)
  local result = why and {why} or slot_submit(p, f)
  if result[1] == 'LATE' then return result end
  settle_pending(p.prefix, session)
  if why or result[1] == 'epoch_over' then not_logged(p.prefix, f.salt, session, p.kind, result[1])
  elseif result[1] == 'slot_quota' or result[1] == 'place_budget' then
    not_logged(p.prefix, f.salt, session, p.kind, result[1], f.payload)
  end
  return result
end

-- ARGV: epoch, kind, now. From here on nothing enters a slot that ended by now; what waits in those.
local function ms_slot_due(keys, a)
  local p = open_slots(keys[1], a[1], a[2], '')
  local horizon = redis.call('HGET', k(p, 'state'), 'horizon')
  if not horizon or tonumber(horizon) < tonumber(a[3]) then redis.call('HSET', k(p, 'state'), 'horizon', a[3]) end
  local rows = {redis.call('HGET', k(p, 'state'), 'revision') or '0'}
  for _, id in ipairs(redis.call('ZRANGE', k(p, 'due'), '-inf', a[3], 'BYSCORE')) do
    local f = redis.call('HMGET', k(p, 'r', id), 'b', 'v', 'd')
    for i = 1, 3 do rows[#rows + 1] = f[i] end
  end
  return rows
end

-- Named fields: epoch, kind, salts (a seed), revision, now, moves, given_up and groups (their numbers); then
--       moves: id, depth, end, header; given up: id, reason; groups: audience, node, start, end, diverse, n, id…
local function ms_slot_close(keys, a)
  local f, i = named(a)
  local p = open_slots(keys[1], f.epoch, f.kind, f.salts)
  if (redis.call('HGET', k(p, 'state'), 'revision') or '0') ~= f.revision then return 0 end
  for _ = 1, tonumber(f.moves) do
    redis.call('HSET', k(p, 'r', a[i]), 'd', a[i + 1])
    redis.call('ZADD', k(p, 'due'), a[i + 2], a[i])
    append_event(p.prefix, 'RAISED', p.salt(), a[i + 3], '')
    i = i + 4
  end
  for _ = 1, tonumber(f.given_up) do
    slot_gone(p, a[i])
    slot_suppressed(p, a[i], a[i + 1], f.now)
    i = i + 2
  end
  for _ = 1, tonumber(f.groups) do
    local number = redis.call('HINCRBY', k(p, 'state'), 'groups', 1)
    redis.call('HSET', k(p, 'g', number), 'a', a[i], 'n', a[i + 1], 's', a[i + 2], 'e', a[i + 3], 'd', a[i + 4], 'c', f.now)
    for j = i + 6, i + 5 + tonumber(a[i + 5]) do
      local record = redis.call('HMGET', k(p, 'r', a[j]), 'b', 'p')
      redis.call('RPUSH', k(p, 'm', number), record[1], record[2])
      slot_gone(p, a[j])
    end
    redis.call('ZADD', k(p, 'formed'), number, number)
    i = i + 6 + tonumber(a[i + 5])
  end
  return 1
end

-- ARGV: epoch, kind. Nothing enters any more.
local function ms_slot_end(keys, a)
  return redis.call('HSET', k(open_slots(keys[1], a[1], a[2], ''), 'state'), 'closed', '1')
end

-- ARGV: epoch, kind, seconds. Removes what is left of an ended epoch, but for `seconds` the fact that it ended.
local function ms_slot_forget(keys, a)
  local p = open_slots(keys[1], a[1], a[2], '')
  if redis.call('EXISTS', k(p, 'formed'), k(p, 'due')) > 0 then return 0 end
  for _, person in ipairs(redis.call('SPOP', k(p, 'who'), PEOPLE_AT_ONCE)) do redis.call('UNLINK', k(p, 'taken', person)) end
  if redis.call('EXISTS', k(p, 'who')) == 1 then return 0 end
  redis.call('EXPIRE', k(p, 'state'), a[3])
  return 1
end

-- Remove a person's waiting records from audiences that `keep` does not hold; how many.
local function slots_withdraw(prefix, epoch, seed, person, keep)
  local gone = 0
  for _, kind in ipairs({'location', 'command'}) do
    local p = open_slots(prefix, epoch, kind, seed .. kind)
    local ids = redis.call('SMEMBERS', k(p, 'by', person))
    table.sort(ids)
    for _, id in ipairs(ids) do
      if not keep[redis.call('HGET', k(p, 'r', id), 'a')] then
        slot_gone(p, id)
        local header = string.format('{"epoch":%s,"kind":"%s","session":"%s"}', epoch, kind, hex(id))
        append_event(prefix, 'WITHDRAWN', p.salt(), header, '')
        redis.call('HINCRBY', k(p, 'state'), 'revision', 1)
        gone = gone + 1
      end
    end
  end
  return gone
end

-- ARGV: epoch, kind. Formed groups that were not released.
local function ms_slot_unreleased(keys, a)
  local p, groups = open_slots(keys[1], a[1], a[2], ''), {}
  for _, number in ipairs(redis.call('ZRANGE', k(p, 'formed'), 0, 15)) do
    local f = redis.call('HMGET', k(p, 'g', number), 'a', 'n', 's', 'e', 'd', 'c')
    groups[#groups + 1] = {number, f[1], f[2], f[3], f[4], f[5], f[6], redis.call('LRANGE', k(p, 'm', number), 0, -1)}
  end
  return groups
end

local function slot_drop_formed(p, number)
  redis.call('DEL', k(p, 'g', number), k(p, 'm', number))
  return redis.call('ZREM', k(p, 'formed'), number) == 1
end

-- Named fields: epoch, kind, salts (a seed), number (in the kind), close, reason; then ids of the members. The group is given
-- up whole.
local function ms_slot_withhold(keys, a)
  local f, rows = named(a)
  local p = open_slots(keys[1], f.epoch, f.kind, f.salts)
  if not slot_drop_formed(p, f.number) then return 0 end
  for i = rows, #a do slot_suppressed(p, a[i], f.reason, f.close) end
  return 1
end

-- Named fields: epoch, kind, salts (a seed), number (in the kind), group (its number for parties), header, payload; then for
-- each party: name, records
local function ms_slot_release(keys, a)
  local f, rows = named(a)
  local p = open_slots(keys[1], f.epoch, f.kind, f.salts)
  if not slot_drop_formed(p, f.number) then return 0 end
  append_event(p.prefix, 'RELEASED', p.salt(), f.header, f.payload)
  outbox_add(p.prefix, p.epoch, f.group, a, rows)
  return 1
end

redis.register_function('ms_slot_log', ms_slot_log)
redis.register_function('ms_slot_due', ms_slot_due)
redis.register_function('ms_slot_close', ms_slot_close)
redis.register_function('ms_slot_end', ms_slot_end)
redis.register_function('ms_slot_forget', ms_slot_forget)
redis.register_function('ms_slot_release', ms_slot_release)
redis.register_function('ms_slot_withhold', ms_slot_withhold)
redis.register_function{function_name = 'ms_slot_unreleased', callback = ms_slot_unreleased, flags = {'no-writes'}}
