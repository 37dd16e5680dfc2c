-- The pool of mode mix on a store (DESIGN 8.1, 8.4-8.7): the same rules in the same order as
-- proxid/anonymise/mix/pool.py, held together by one contract test. KEYS[1] is the prefix "{ms}".
-- Everything of an epoch lies below P = PREFIX:pool:EPOCH.
--
--   P:state     hash: clock, closed, groups (last number), moves (order of coming to nodes)
--   P:aud       sorted set of audiences by first record   P:arrivals  hash audience -> records buffered
--   P:ids       set of all ids                            P:seasoned  hash person -> 0 or 1
--   P:in:A:U    set of a person's texts that entered      P:count:A   hash unit -> distinct seasoned issuers
--   P:by:A:U    set of the units counted for a person     P:due:A     sorted set of ids by coming to their node
--   P:r:ID      hash of a waiting record                  P:mine:A:U  sorted set of a person's ids by arrival
--   P:s:N, P:o:N  sorted set of the seasoned people, of the others, at a node, by their oldest arrival
--   P:q:N:U     sorted set of a person's ids at a node    P:formed    sorted set of groups not released
--   P:g:NUMBER  hash of a formed group

local SEP = '\31'

-- Looked up: a function for each byte would take longer than the rest of a step. While a library is loaded there is no `string`.
local HEX, BYTE = {}, {}

local function fill()
  for i = 0, 255 do
    local byte, digits = string.char(i), string.format('%02x', i)
    HEX[byte], BYTE[digits] = digits, byte
  end
end

local function hex(s)
  if not HEX['0'] then fill() end
  return (s:gsub('.', HEX))
end

local function unhex(s)
  if not HEX['0'] then fill() end
  return (s:gsub('..', BYTE))
end

-- A source of 16-byte salts from one that the caller drew.
local function salts_of(seed)
  local i = 0
  return function()
    i = i + 1
    return unhex(redis.sha1hex(seed .. ':' .. i):sub(1, 32))
  end
end

-- Every pool function takes by name: epoch, n, level, max_records, max_seconds (or -1), threshold (of texts), cap (of a
-- person, or -1), unseasoned_cap, width (of a bucket, s), salts (a seed); below these are called the settings.
local function open_pool(prefix, f)
  local p = {
    prefix = prefix, epoch = f.epoch, n = tonumber(f.n), level = tonumber(f.level), max_records = tonumber(f.max_records),
    max_seconds = tonumber(f.max_seconds), threshold = tonumber(f.threshold), cap = tonumber(f.cap),
    join = tonumber(f.unseasoned_cap), width = tonumber(f.width), salt = salts_of(f.salts),
    base = prefix .. ':pool:' .. f.epoch,
  }
  local state = redis.call('HMGET', p.base .. ':state', 'clock', 'closed')
  p.clock, p.closed = tonumber(state[1] or '0'), state[2] == '1'
  return p
end

local function k(p, a, b, c)
  return below(p.base, a, b, c)
end

-- The clock is the latest time that an event shows, so a replay of the events has the same one.
local function set_clock(p, now)
  if now > p.clock then
    p.clock = now
    redis.call('HSET', k(p, 'state'), 'clock', string.format('%.17g', now))
  end
end

local function split(path)
  local parts = {}
  if path ~= '' then for part in string.gmatch(path .. SEP, '([^' .. SEP .. ']*)' .. SEP) do parts[#parts + 1] = part end end
  return parts
end

local function node_at(path, depth)
  local parts = split(path)
  while #parts > depth do parts[#parts] = nil end
  return table.concat(parts, SEP)
end

local function list_json(path)
  local parts = split(path)
  return #parts == 0 and '[]' or cjson.encode(parts)
end

local function node_key(audience, node)
  return audience .. SEP .. node
end

local function queue_key(p, where, seasoned)
  return k(p, seasoned == '1' and 's' or 'o', where)
end

-- SUPPRESSED of a record that did not enter: the event holds it, so that the auditor finds the reason again.
local function turned_away(p, f, reason)
  local header = string.format('{"epoch":%s,"kind":"general","reason":"%s","session":"%s","v":2}', p.epoch, reason, hex(f.id))
  append_event(p.prefix, 'SUPPRESSED', p.salt(), header, f.payload)
  count_withheld(p.prefix, 'general', reason)
  return reason, {}
end

local function suppressed_event(p, id, reason)
  local header = string.format('{"epoch":%s,"reason":"%s","session":"%s","time":"%.17g"}', p.epoch, reason, hex(id), p.clock)
  append_event(p.prefix, 'SUPPRESSED', p.salt(), header, '')
  count_withheld(p.prefix, 'general', reason)
end

local function add_to_queue(p, where, person, seasoned, id, arrival)
  redis.call('ZADD', k(p, 'q', where, person), arrival, id)
  local first = redis.call('ZRANGE', k(p, 'q', where, person), 0, 0, 'WITHSCORES')
  redis.call('ZADD', queue_key(p, where, seasoned), first[2], person)
end

local function remove_from_queue(p, where, person, seasoned, id)
  redis.call('ZREM', k(p, 'q', where, person), id)
  local first = redis.call('ZRANGE', k(p, 'q', where, person), 0, 0, 'WITHSCORES')
  if first[2] then redis.call('ZADD', queue_key(p, where, seasoned), first[2], person)
  else redis.call('ZREM', queue_key(p, where, seasoned), person) end
end

local function next_move(p)
  return redis.call('HINCRBY', k(p, 'state'), 'moves', 1)
end

local function read_record(p, id)
  local f = redis.call('HMGET', k(p, 'r', id), 'u', 's', 'a', 'n', 'i', 't', 'v', 'c', 'r', 'p')
  if not f[1] then return nil end
  return {id = id, person = f[1], seasoned = f[2], audience = f[3], node = f[4], units = f[5], time = tonumber(f[6]),
    arrival = tonumber(f[7]), entered = tonumber(f[8]), raised = f[9] == '1', payload = f[10]}
end

local function forget_record(p, r)
  remove_from_queue(p, node_key(r.audience, r.node), r.person, r.seasoned, r.id)
  redis.call('ZREM', k(p, 'due', r.audience), r.id)
  redis.call('ZREM', k(p, 'mine', r.audience, r.person), r.id)
  redis.call('DEL', k(p, 'r', r.id))
end

-- Units, which stand one after the other, and whether enough people of an audience issued each.
local function issued(p, audience, units)
  local all = {}
  for i = 1, #units / 16 do all[i] = units:sub(16 * i - 15, 16 * i) end
  if #all == 0 then return all, {} end
  local enough = redis.call('HMGET', k(p, 'count', audience), unpack(all))
  for i = 1, #all do enough[i] = tonumber(enough[i] or '0') >= p.threshold end
  return all, enough
end

-- The rung of the ladder (8.7): the first listed unit that enough people issued.
local function rung_of(p, r)
  local all, enough = issued(p, r.audience, r.units)
  for i = 1, #all do
    if enough[i] then return i == 1 and 'text' or 'unit', i - 1 end
  end
  return 'category', -1
end

-- Once enough people issued a unit, nobody needs to be counted, or kept, any more.
local function count_issues(p, audience, person, units)
  local all, enough = issued(p, audience, units)
  for i, unit in ipairs(all) do
    if not enough[i] and redis.call('SADD', k(p, 'by', audience, person), unit) == 1 then
      redis.call('HINCRBY', k(p, 'count', audience), unit, 1)
    end
  end
end

local function oldest(p, where, seasoned, count)
  local ids = {}
  for _, person in ipairs(redis.call('ZRANGE', queue_key(p, where, seasoned), 0, count - 1)) do
    ids[#ids + 1] = redis.call('ZRANGE', k(p, 'q', where, person), 0, 0)[1]
  end
  return ids
end

-- A Lua function takes a few thousand arguments at most.
local function push_all(key, items)
  for i = 1, #items, 4096 do redis.call('RPUSH', key, unpack(items, i, math.min(i + 4095, #items))) end
end

-- Take a group from a ripe node, give it the next number, decide what is shown of its texts.
local function form_group(p, audience, node)
  local where, taken, raised = node_key(audience, node), {}, false
  for _, seasoned in ipairs({'1', '0'}) do
    for _, id in ipairs(oldest(p, where, seasoned, seasoned == '1' and p.n or p.join)) do
      local r = read_record(p, id)
      raised = raised or r.raised
      taken[#taken + 1] = r
    end
  end
  table.sort(taken, function(x, y) return x.arrival < y.arrival end)
  local number = redis.call('HINCRBY', k(p, 'state'), 'groups', 1)
  local key, members = k(p, 'g', number), {}
  for _, r in ipairs(taken) do
    local rung, unit = 'node', -1
    if not raised then rung, unit = rung_of(p, r) end
    for _, item in ipairs({r.id, r.person, r.seasoned, rung, tostring(unit), r.payload}) do members[#members + 1] = item end
    forget_record(p, r)
  end
  push_all(k(p, 'm', number), members)
  redis.call('HSET', key, 'a', audience, 'n', node, 'r', raised and '1' or '0', 'b', math.floor(p.clock / p.width) * p.width)
  redis.call('ZADD', k(p, 'formed'), number, number)
  return number
end

local function form_groups(p, audience, node, formed)
  while redis.call('ZCARD', queue_key(p, node_key(audience, node), '1')) >= p.n do
    formed[#formed + 1] = form_group(p, audience, node)
  end
end

local function is_full(p, where, person)
  return p.cap >= 0 and redis.call('ZCARD', k(p, 'q', where, person)) >= p.cap
end

-- f: id, person, seasoned, audience, path, units, time, payload (the event's too), header; returns outcome and group numbers
local function pool_submit(p, f)
  local id, person, seasoned, audience, units = f.id, f.person, f.seasoned, f.audience, f.units
  if p.closed then return 'CLOSED', {} end
  if redis.call('SISMEMBER', k(p, 'ids'), id) == 1 then return 'duplicate', {} end
  local known = redis.call('HGET', k(p, 'seasoned'), person)
  if known and known ~= seasoned then return 'UNSTEADY', {} end
  redis.call('HSET', k(p, 'seasoned'), person, seasoned)
  redis.call('SADD', k(p, 'ids'), id)
  local node = node_at(f.path, p.level)
  local where = node_key(audience, node)
  if #units > 0 and redis.call('SISMEMBER', k(p, 'in', audience, person), units:sub(1, 16)) == 1 then
    return turned_away(p, f, 'repeated')
  end
  if is_full(p, where, person) then return turned_away(p, f, 'capped') end
  set_clock(p, tonumber(f.time))
  local arrival = redis.call('HINCRBY', k(p, 'arrivals'), audience, 1)
  if arrival == 1 then redis.call('ZADD', k(p, 'aud'), next_move(p), audience) end
  redis.call('HSET', k(p, 'r', id), 'u', person, 's', seasoned, 'a', audience, 'n', node, 'i', units,
    't', string.format('%.17g', p.clock), 'v', arrival, 'c', arrival, 'r', '0', 'p', f.payload)
  redis.call('ZADD', k(p, 'due', audience), next_move(p), id)
  redis.call('ZADD', k(p, 'mine', audience, person), arrival, id)
  add_to_queue(p, where, person, seasoned, id, arrival)
  append_event(p.prefix, 'BUFFERED', p.salt(), f.header, f.payload)
  if #units > 0 then
    redis.call('SADD', k(p, 'in', audience, person), units:sub(1, 16))
    if seasoned == '1' then count_issues(p, audience, person, units) end
  end
  local formed = {}
  form_groups(p, audience, node, formed)
  return 'buffered', formed
end

local function give_up(p, r, reason)
  forget_record(p, r)
  suppressed_event(p, r.id, reason)
end

local function first_due(p, audience, clock)
  local id = redis.call('ZRANGE', k(p, 'due', audience), 0, 0)[1]
  if not id then return nil end
  local r = read_record(p, id)
  local arrivals = tonumber(redis.call('HGET', k(p, 'arrivals'), audience))
  local late = (p.max_records >= 0 and arrivals - r.entered >= p.max_records)
    or (p.max_seconds >= 0 and clock - r.time >= p.max_seconds)
  return late and r or nil
end

local function move_up(p, r, formed)
  if r.node == '' then
    give_up(p, r, 'expired')
    return
  end
  local target = node_at(r.node, #split(r.node) - 1)
  if is_full(p, node_key(r.audience, target), r.person) then
    give_up(p, r, 'capped')
    return
  end
  remove_from_queue(p, node_key(r.audience, r.node), r.person, r.seasoned, r.id)
  redis.call('HSET', k(p, 'r', r.id), 'n', target, 'r', '1', 't', string.format('%.17g', p.clock),
    'c', redis.call('HGET', k(p, 'arrivals'), r.audience))
  redis.call('ZADD', k(p, 'due', r.audience), next_move(p), r.id)
  add_to_queue(p, node_key(r.audience, target), r.person, r.seasoned, r.id, r.arrival)
  local header = string.format('{"epoch":%s,"session":"%s","source":%s,"target":%s,"time":"%.17g"}', p.epoch, hex(r.id),
    list_json(r.node), list_json(target), p.clock)
  append_event(p.prefix, 'RAISED', p.salt(), header, '')
  form_groups(p, r.audience, target, formed)
end

-- Named fields: settings, now, limit. Returns how many moved, 1 if more is due, then the numbers of groups formed.
local function ms_pool_tick(keys, a)
  local f = named(a)
  local p = open_pool(keys[1], f)
  local clock = math.max(p.clock, tonumber(f.now))
  local moved, limit, formed = 0, tonumber(f.limit), {}
  for _, audience in ipairs(redis.call('ZRANGE', k(p, 'aud'), 0, -1)) do
    local r = first_due(p, audience, clock)
    while r do
      if moved == limit then return {moved, 1, unpack(formed)} end
      set_clock(p, clock)
      move_up(p, r, formed)
      moved = moved + 1
      r = first_due(p, audience, clock)
    end
  end
  return {moved, 0, unpack(formed)}
end

-- Remove a person's waiting records from audiences that `keep` does not hold; how many.
local function pool_withdraw(p, person, keep)
  local gone = 0
  for _, audience in ipairs(redis.call('ZRANGE', k(p, 'aud'), 0, -1)) do
    if not keep[audience] then
      for _, id in ipairs(redis.call('ZRANGE', k(p, 'mine', audience, person), 0, -1)) do
        forget_record(p, read_record(p, id))
        local header = string.format('{"epoch":%s,"session":"%s"}', p.epoch, hex(id))
        append_event(p.prefix, 'WITHDRAWN', p.salt(), header, '')
        gone = gone + 1
      end
    end
  end
  return gone
end

-- Named fields: settings, person; then audience to keep…
local function ms_pool_withdraw(keys, a)
  local f, rows = named(a)
  local keep = {}
  for i = rows, #a do keep[a[i]] = true end
  return pool_withdraw(open_pool(keys[1], f), f.person, keep)
end

-- Named fields: settings, limit. Ends the epoch; returns how many were given up, and 1 if some still wait.
local function ms_pool_close(keys, a)
  local f = named(a)
  local p = open_pool(keys[1], f)
  redis.call('HSET', k(p, 'state'), 'closed', '1')
  local gone, limit = 0, tonumber(f.limit)
  for _, audience in ipairs(redis.call('ZRANGE', k(p, 'aud'), 0, -1)) do
    for _, id in ipairs(redis.call('ZRANGE', k(p, 'due', audience), 0, limit - gone)) do
      if gone == limit then return {gone, 1} end
      give_up(p, read_record(p, id), 'epoch_end')
      gone = gone + 1
    end
  end
  return {gone, 0}
end

-- What a person has in a pool besides what waits.
local function pool_forget_person(p, audiences, person)
  for _, audience in ipairs(audiences) do redis.call('UNLINK', k(p, 'in', audience, person), k(p, 'by', audience, person)) end
  redis.call('HDEL', k(p, 'seasoned'), person)
end

local PEOPLE_AT_ONCE = 4096

-- Named fields: settings, seconds. Once a closed epoch has nothing waiting and nothing to release, removes all that is left of
-- it, some people at a time, but for `seconds` the fact that it is closed. Returns 1, or 0 if there is still something to do.
local function ms_pool_forget(keys, a)
  local f = named(a)
  local p = open_pool(keys[1], f)
  if not p.closed or redis.call('EXISTS', k(p, 'formed')) == 1 then return 0 end
  local audiences = redis.call('ZRANGE', k(p, 'aud'), 0, -1)
  for _, audience in ipairs(audiences) do
    if redis.call('EXISTS', k(p, 'due', audience)) == 1 then return 0 end
  end
  for _, person in ipairs(redis.call('HRANDFIELD', k(p, 'seasoned'), PEOPLE_AT_ONCE)) do
    pool_forget_person(p, audiences, person)
  end
  if redis.call('EXISTS', k(p, 'seasoned')) == 1 then return 0 end
  for _, audience in ipairs(audiences) do redis.call('UNLINK', k(p, 'count', audience)) end
  redis.call('UNLINK', k(p, 'aud'), k(p, 'arrivals'), k(p, 'ids'))
  redis.call('EXPIRE', k(p, 'state'), f.seconds)
  return 1
end

-- Named fields: settings, and what pool_submit takes.
local function ms_pool_submit(keys, a)
  local f = named(a)
  local outcome, formed = pool_submit(open_pool(keys[1], f), f)
  return {outcome, unpack(formed)}
end

redis.register_function('ms_pool_submit', ms_pool_submit)
redis.register_function('ms_pool_tick', ms_pool_tick)
redis.register_function('ms_pool_withdraw', ms_pool_withdraw)
redis.register_function('ms_pool_close', ms_pool_close)
redis.register_function('ms_pool_forget', ms_pool_forget)
