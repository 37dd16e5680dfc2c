-- Form `split` on a store (DESIGN 8.11): the same rules as proxid/anonymise/split/pool.py, held together by one contract
-- test. What a close does is decided by the pure functions that the auditor runs too. Everything of an epoch lies below
-- P = PREFIX:split:EPOCH; a place is AUDIENCE \31 NODE.
--
--   P:state  hash: arrivals, tick (the last one), closed, busy: the tick whose entries are not all out
--   P:aud    set of audiences               P:nodes:A  set of nodes with waiting records   P:open:A  of those an entry left
--   P:r:ID   hash of a record: u person, a audience, n node, p payload, x 1: it is to stand in no round, g 1: given up
--   P:w:PLACE  sorted set of waiting ids by arrival         P:c:PLACE  hash person -> waiting records there
--   P:f:TICK:PLACE  what a tick took of P:w                 P:taken    set of TICK:PLACE
--   P:by:U   set of a person's ids          P:who   set of people          P:out  set of what is in the outbox, by name

local function open_split(prefix, epoch, seed)
  local p = {prefix = prefix, epoch = epoch, salt = salts_of(seed), base = prefix .. ':split:' .. epoch}
  local state = redis.call('HMGET', p.base .. ':state', 'closed', 'busy', 'tick')
  p.closed, p.busy, p.tick = state[1] == '1', state[2], tonumber(state[3] or '0')
  return p
end

local function split_gone(p, id, person, where, node, audience)
  redis.call('ZREM', k(p, 'w', where), id)
  if redis.call('HINCRBY', k(p, 'c', where), person, -1) <= 0 then redis.call('HDEL', k(p, 'c', where), person) end
  if redis.call('EXISTS', k(p, 'w', where)) == 0 then redis.call('SREM', k(p, 'nodes', audience), node) end
  redis.call('SREM', k(p, 'by', person), id)
  redis.call('DEL', k(p, 'r', id))
end

-- Take a person's records back from audiences that `keep` does not hold; how many. What has left stands in no round. Once
-- the epoch is closed nothing is formed again: what is on its way the gateway drops.
local function split_withdraw(prefix, epoch, seed, person, keep)
  local p, gone = open_split(prefix, epoch, seed), 0
  if p.closed then return 0 end
  local ids = redis.call('SMEMBERS', k(p, 'by', person))
  table.sort(ids)
  for _, id in ipairs(ids) do
    local f = redis.call('HMGET', k(p, 'r', id), 'a', 'n', 'x')
    if f[1] and not keep[f[1]] and not f[3] then
      local where, left = node_key(f[1], f[2]), ''
      if redis.call('ZSCORE', k(p, 'w', where), id) then split_gone(p, id, person, where, f[2], f[1])
      else
        redis.call('HSET', k(p, 'r', id), 'x', '1')
        left = '"left":true,'
      end
      append_event(prefix, 'WITHDRAWN', p.salt(), string.format('{"epoch":%s,%s"session":"%s"}', epoch, left, hex(id)), '')
      gone = gone + 1
    end
  end
  return gone
end

-- What is left of a person whose records were all taken back: what a tick took and is out.
local function split_forget_person(prefix, epoch, person)
  local p = open_split(prefix, epoch, '')
  for _, id in ipairs(redis.call('SMEMBERS', k(p, 'by', person))) do redis.call('DEL', k(p, 'r', id)) end
  redis.call('DEL', k(p, 'by', person))
end

local function split_is_leaving(prefix, epoch, person)
  local p = open_split(prefix, epoch, '')
  return p.busy and redis.call('EXISTS', k(p, 'by', person)) == 1
end

-- Named fields: epoch, salts (a seed), session, version (of the consent), person, audience, node, payload (the event's too), header
local function ms_split_log(keys, a)
  local f = named(a)
  local p, id, person, audience, node = open_split(keys[1], f.epoch, f.salts), f.session, f.person, f.audience, f.node
  if not settle_pending(p.prefix, id) then return 'duplicate' end
  local why = not_allowed(p.prefix, person, f.version) or p.closed and 'epoch_over'
  if why then
    not_logged(p.prefix, p.salt(), id, 'general', why)
    return why
  end
  local where = node_key(audience, node)
  redis.call('SADD', k(p, 'aud'), audience)
  redis.call('SADD', k(p, 'nodes', audience), node)
  redis.call('SADD', k(p, 'who'), person)
  redis.call('SADD', k(p, 'by', person), id)
  redis.call('HSET', k(p, 'r', id), 'u', person, 'a', audience, 'n', node, 'p', f.payload)
  redis.call('ZADD', k(p, 'w', where), redis.call('HINCRBY', k(p, 'state'), 'arrivals', 1), id)
  redis.call('HINCRBY', k(p, 'c', where), person, 1)
  append_event(p.prefix, 'BUFFERED', p.salt(), f.header, f.payload)
  return 'buffered'
end

local function sorted(name)
  local members = redis.call('SMEMBERS', name)
  table.sort(members)
  return members
end

local function is_open(p, audience, node, n)
  return redis.call('SISMEMBER', k(p, 'open', audience), node) == 1
    or redis.call('HLEN', k(p, 'c', node_key(audience, node))) >= n
end

local function ticked(p, tick, time)
  redis.call('HSET', k(p, 'state'), 'tick', tick, 'busy', tick)
  append_event(p.prefix, 'TICKED', p.salt(), string.format('{"epoch":%s,"tick":%s,"time":%s}', p.epoch, tick, time), '')
end

-- ARGV: epoch, salt seed, tick, n, least number of nodes, now (ms). What waits at open nodes of an audience is taken, if that may
-- leave. Returns 1 unless the tick was before.
local function ms_split_tick(keys, a)
  local p, tick, n = open_split(keys[1], a[1], a[2]), a[3], tonumber(a[4])
  if p.closed or p.busy or tonumber(tick) <= p.tick then return 0 end
  ticked(p, tick, a[6])
  for _, audience in ipairs(sorted(k(p, 'aud'))) do
    local nodes, total, most = {}, 0, 0
    for _, node in ipairs(sorted(k(p, 'nodes', audience))) do
      if is_open(p, audience, node, n) then
        local size = redis.call('ZCARD', k(p, 'w', node_key(audience, node)))
        nodes[#nodes + 1], total, most = node, total + size, math.max(most, size)
      end
    end
    if #nodes >= tonumber(a[5]) and 2 * most <= total then
      for _, node in ipairs(nodes) do
        local where = node_key(audience, node)
        redis.call('RENAME', k(p, 'w', where), k(p, 'f', tick, where))
        redis.call('DEL', k(p, 'c', where))
        redis.call('SADD', k(p, 'taken'), tick .. ':' .. where)
        redis.call('SADD', k(p, 'open', audience), node)
        redis.call('SREM', k(p, 'nodes', audience), node)
      end
    end
  end
  return 1
end

-- ARGV: epoch, salt seed, the last tick, now (ms). Nothing enters any more, and nothing is taken back.
local function ms_split_close(keys, a)
  local p = open_split(keys[1], a[1], a[2])
  if p.closed or p.busy then return 0 end
  redis.call('HSET', k(p, 'state'), 'closed', '1')
  ticked(p, a[3], a[4])
  return 1
end

-- ARGV: epoch, n: the last tick, 1 while it is under way, 1 if it is the close; audiences; then what ticks took: TICK:AUDIENCE \31 NODE; then what
-- waits: AUDIENCE \31 NODE, 1 if it is open.
local function ms_split_state(keys, a)
  local p, waiting = open_split(keys[1], a[1], ''), {}
  for _, audience in ipairs(sorted(k(p, 'aud'))) do
    for _, node in ipairs(sorted(k(p, 'nodes', audience))) do
      waiting[#waiting + 1] = node_key(audience, node)
      waiting[#waiting + 1] = is_open(p, audience, node, tonumber(a[2])) and '1' or '0'
    end
  end
  return {p.tick, p.busy and '1' or '0', p.closed and '1' or '0', sorted(k(p, 'aud')), sorted(k(p, 'taken')), waiting}
end

-- ARGV: epoch: how many people have a waiting record.
local function ms_split_people(keys, a)
  local p, people, count = open_split(keys[1], a[1], ''), {}, 0
  for _, audience in ipairs(redis.call('SMEMBERS', k(p, 'aud'))) do
    for _, node in ipairs(redis.call('SMEMBERS', k(p, 'nodes', audience))) do
      for _, person in ipairs(redis.call('HKEYS', k(p, 'c', node_key(audience, node)))) do
        if not people[person] then people[person], count = true, count + 1 end
      end
    end
  end
  return count
end

-- ARGV: epoch, `w:PLACE` or `f:TICK:PLACE`, first, last: ids in order of arrival, of each its person and 1 if it stands in no
-- round.
local function ms_split_ids(keys, a)
  local p, rows = open_split(keys[1], a[1], ''), {}
  for _, id in ipairs(redis.call('ZRANGE', k(p, a[2]), a[3], a[4])) do
    local f = redis.call('HMGET', k(p, 'r', id), 'u', 'x')
    rows[#rows + 1], rows[#rows + 2], rows[#rows + 3] = id, f[1] or '', (f[2] or not f[1]) and '1' or '0'
  end
  return rows
end

-- ARGV: epoch, id…: payloads; empty for who was erased.
local function ms_split_payloads(keys, a)
  local p, found = open_split(keys[1], a[1], ''), {}
  for i = 2, #a do found[#found + 1] = redis.call('HGET', k(p, 'r', a[i]), 'p') or '' end
  return found
end

-- Named fields: epoch, salts (a seed), number, audience, type (of the event), header, payload; then for each party: name, records. Once.
local function ms_split_release(keys, a)
  local f, rows = named(a)
  local p = open_split(keys[1], f.epoch, f.salts)
  if redis.call('SADD', k(p, 'out'), f.number) == 0 then return 0 end
  append_event(p.prefix, f.type, p.salt(), f.header, f.payload)
  outbox_add(p.prefix, p.epoch, f.number, a, rows, f.audience)
  return 1
end

-- ARGV: epoch, salt seed, tick, then ids, of each the reason. Given up at the close, once.
local function ms_split_suppress(keys, a)
  local p = open_split(keys[1], a[1], a[2])
  for i = 4, #a, 2 do
    if redis.call('HSETNX', k(p, 'r', a[i]), 'g', '1') == 1 then
      local header = string.format('{"epoch":%s,"reason":"%s","session":"%s","tick":%s}', p.epoch, a[i + 1], hex(a[i]), a[3])
      append_event(p.prefix, 'SUPPRESSED', p.salt(), header, '')
      count_withheld(p.prefix, 'general', a[i + 1])
    end
  end
  return 1
end

-- ARGV: epoch, tick. Everything of a tick is out.
local function ms_split_done(keys, a)
  local p = open_split(keys[1], a[1], '')
  if p.busy == a[2] then redis.call('HDEL', k(p, 'state'), 'busy') end
  return 1
end

local RECORDS_AT_ONCE = 128

-- ARGV: epoch, seconds. Removes what is left of a closed epoch, some people at a time, but for `seconds` the fact that it is
-- closed. Returns 1, or 0 if there is still something to do.
local function ms_split_forget(keys, a)
  local p = open_split(keys[1], a[1], '')
  if redis.call('EXISTS', k(p, 'state')) == 0 then return 1 end
  if not p.closed or p.busy then return 0 end
  local person, gone = redis.call('SPOP', k(p, 'who')), 0
  while person do
    for _, id in ipairs(redis.call('SMEMBERS', k(p, 'by', person))) do redis.call('UNLINK', k(p, 'r', id)) end
    gone = gone + 1 + redis.call('SCARD', k(p, 'by', person))
    redis.call('UNLINK', k(p, 'by', person))
    person = gone < RECORDS_AT_ONCE and redis.call('SPOP', k(p, 'who'))
  end
  if redis.call('EXISTS', k(p, 'who')) == 1 then return 0 end
  for _, name in ipairs(sorted(k(p, 'taken'))) do redis.call('UNLINK', k(p, 'f', name)) end
  for _, audience in ipairs(sorted(k(p, 'aud'))) do
    for _, node in ipairs(sorted(k(p, 'nodes', audience))) do
      redis.call('UNLINK', k(p, 'w', node_key(audience, node)), k(p, 'c', node_key(audience, node)))
    end
    redis.call('UNLINK', k(p, 'nodes', audience), k(p, 'open', audience))
  end
  redis.call('UNLINK', k(p, 'taken'), k(p, 'aud'), k(p, 'out'))
  redis.call('EXPIRE', k(p, 'state'), a[2])
  return 1
end

redis.register_function('ms_split_log', ms_split_log)
redis.register_function('ms_split_tick', ms_split_tick)
redis.register_function('ms_split_close', ms_split_close)
redis.register_function('ms_split_release', ms_split_release)
redis.register_function('ms_split_suppress', ms_split_suppress)
redis.register_function('ms_split_done', ms_split_done)
redis.register_function('ms_split_forget', ms_split_forget)
redis.register_function{function_name = 'ms_split_state', callback = ms_split_state, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_split_people', callback = ms_split_people, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_split_ids', callback = ms_split_ids, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_split_payloads', callback = ms_split_payloads, flags = {'no-writes'}}
