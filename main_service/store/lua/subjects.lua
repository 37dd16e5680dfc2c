-- Persons' rights at the Main Service, where a person is a PROX_ID (DESIGN 10.3, 11). Each step costs what is the person's.

-- Requests of a person that were answered and wait to be classified.
local function pending_of(prefix, prox)
  local sessions = {}
  for _, name in ipairs(redis.call('ZRANGE', mkey(prefix, 'i', prox), 0, -1)) do
    if name:sub(1, 2) == 'w:' then sessions[#sessions + 1] = name:sub(3) end
  end
  return sessions
end

local function suppress_pending(prefix, prox, salt, reason)
  for _, session in ipairs(pending_of(prefix, prox)) do
    if settle_pending(prefix, session) then
      not_logged(prefix, salt(), session, 'unknown', reason)
    end
  end
end

-- Named fields: settings, prox_id, salt. What waits of a person in an epoch goes, and what was counted of it.
local function ms_erase(keys, a)
  local f = named(a)
  local p, prox = open_pool(keys[1], f), f.prox_id
  -- What is being answered just now does not wait either; ms_erased takes it away with the consent.
  redis.call('SET', mkey(p.prefix, 'ob', prox), '1', 'EX', KEPT)
  suppress_pending(p.prefix, prox, salts_of(f.salt .. 'w'), 'erased')
  local gone = pool_withdraw(p, prox, {})
  slots_withdraw(p.prefix, p.epoch, f.salt, prox, {})
  gone = gone + split_withdraw(p.prefix, p.epoch, f.salt .. 's', prox, {})
  pool_forget_person(p, redis.call('ZRANGE', k(p, 'aud'), 0, -1), prox)
  for _, kind in ipairs({'location', 'command'}) do
    local slots = open_slots(p.prefix, p.epoch, kind, '')
    redis.call('UNLINK', k(slots, 'taken', prox))
    redis.call('SREM', k(slots, 'who'), prox)
  end
  redis.call('DEL', mkey(p.prefix, 'places', p.epoch, prox))
  return gone
end

-- ARGV: PROX_ID, name of the evidence key, salt, header. The rest, with the event that says so.
local function ms_erased(keys, a)
  local prefix, index = keys[1], mkey(keys[1], 'i', a[1])
  for _, epoch in ipairs(redis.call('SMEMBERS', mkey(prefix, 'epochs'))) do split_forget_person(prefix, epoch, a[1]) end
  for _, name in ipairs(redis.call('ZRANGE', index, 0, -1)) do
    local epoch, tag = string.match(name, '^m:([^:]+):(.+)$')
    if epoch then redis.call('SREM', mkey(prefix, 'people', epoch), a[1] .. '|' .. tag .. '|' .. a[2]) end
    redis.call('DEL', mkey(prefix, name))
  end
  redis.call('DEL', index, mkey(prefix, 'c', a[1]), mkey(prefix, 'ob', a[1]), a[2])
  return append_event(prefix, 'ERASED', a[3], a[4], '')
end

-- That a key was lost is not undone by what is said of an objection.
local function mark(prefix, prox, how, ttl)
  local name = mkey(prefix, 'ob', prox)
  redis.call('SET', name, math.max(tonumber(redis.call('GET', name) or '0'), tonumber(how)), 'EX', ttl)
end

-- RESTRICTED, of whose evidence is kept here, and where it stands, or ''. Named fields: prox_id, ttl (s), evidence_name; evidence_key, if
-- it came with the word; word (its digest, or '' if there is none), event_salt, header, payload.
local function restricted(prefix, f)
  if (f.evidence_key or '') ~= '' then redis.call('SET', f.evidence_name, f.evidence_key, 'EX', f.ttl, 'NX') end
  if redis.call('EXISTS', f.evidence_name) == 0 then return '' end
  local place = place_of(prefix, append_event(prefix, 'RESTRICTED', f.event_salt, f.header, f.payload))
  if f.word ~= '' then redis.call('SET', mkey(prefix, 'rw', f.word), place, 'EX', f.ttl) end
  return place
end

-- Where RESTRICTED of a word stands that was heeded before: that counts once.
local function heeded(prefix, word)
  return word ~= '' and redis.call('GET', mkey(prefix, 'rw', word))
end

-- Named fields: as restricted; mark (1 or 2), salt; settings, if the epoch is open. Nothing of a person is logged from here on, and
-- what waits goes.
local function ms_restrict(keys, a)
  local f, prefix = named(a), keys[1]
  local before = heeded(prefix, f.word)
  if before then return before end
  local prox = f.prox_id
  mark(prefix, prox, f.mark, f.ttl)
  local place = restricted(prefix, f)
  if f.epoch then
    local p = open_pool(prefix, f)
    pool_withdraw(p, prox, {})
    slots_withdraw(prefix, p.epoch, f.salt, prox, {})
    split_withdraw(prefix, p.epoch, f.salt .. 's', prox, {})
  end
  suppress_pending(prefix, prox, salts_of(f.salt .. 'w'), 'restricted')
  return place
end

-- ARGV: PROX_ID, ttl (s). Of a lost key: nothing waits under it any more, in no epoch, and no release is on its way.
local function ms_given_up(keys, a)
  mark(keys[1], a[1], 3, a[2])
end

-- Named fields: as restricted. What a person consented to counts again, unless their key was lost.
local function ms_unrestrict(keys, a)
  local f, prefix = named(a), keys[1]
  local before = heeded(prefix, f.word)
  if before then return before end
  local name = mkey(prefix, 'ob', f.prox_id)
  if redis.call('GET', name) == '1' then redis.call('DEL', name) elseif f.word == '' then return '' end
  return restricted(prefix, f)
end

-- ARGV: PROX_ID: its credential, if it is here.
local function ms_credential_of(keys, a)
  for _, name in ipairs(redis.call('ZRANGE', mkey(keys[1], 'i', a[1]), 0, -1)) do
    if name:sub(1, 2) == 'q:' then return redis.call('GET', mkey(keys[1], name)) end
  end
  return false
end

-- ARGV: PROX_ID, limit, epoch…: consent; what is answered and not yet classified; payloads of what waits; how many places.
local function ms_share(keys, a)
  local prefix, prox, answered, waiting, places = keys[1], a[1], {}, {}, 0
  local function add(base, ids)
    for _, id in ipairs(ids) do
      if #waiting == tonumber(a[2]) then return end
      waiting[#waiting + 1] = redis.call('HGET', base .. ':r:' .. id, 'p')
    end
  end
  for _, session in ipairs(pending_of(prefix, prox)) do
    local blob = redis.call('HGET', mkey(prefix, 'w', session), 'p')
    if blob and #answered < tonumber(a[2]) then answered[#answered + 1] = blob end
  end
  for i = 3, #a do
    local base = mkey(prefix, 'pool', a[i])
    for _, audience in ipairs(redis.call('ZRANGE', base .. ':aud', 0, -1)) do
      add(base, redis.call('ZRANGE', base .. ':mine:' .. audience .. ':' .. prox, 0, -1))
    end
    for _, kind in ipairs({'location', 'command'}) do
      base = mkey(prefix, 'slots', a[i], kind)
      add(base, redis.call('SMEMBERS', base .. ':by:' .. prox))
    end
    base = mkey(prefix, 'split', a[i])
    add(base, redis.call('SMEMBERS', base .. ':by:' .. prox))
    places = places + redis.call('SCARD', mkey(prefix, 'places', a[i], prox))
  end
  local consent = redis.call('HMGET', mkey(prefix, 'c', prox), 'b', 'v')
  return {consent[1] or 'nothing', consent[2] or '0', answered, waiting, places}
end

-- ARGV: PROX_ID, epoch…: 1 while a formed group or a tick under way holds the person. These are gone in a moment.
local function ms_leaving(keys, a)
  local prefix, prox = keys[1], a[1]
  for i = 2, #a do
    if split_is_leaving(prefix, a[i], prox) then return 1 end
    for _, base in ipairs({mkey(prefix, 'pool', a[i]), mkey(prefix, 'slots', a[i], 'location'),
        mkey(prefix, 'slots', a[i], 'command')}) do
      for _, number in ipairs(redis.call('ZRANGE', base .. ':formed', 0, -1)) do
        for _, item in ipairs(redis.call('LRANGE', base .. ':m:' .. number, 0, -1)) do
          if string.find(item, prox, 1, true) then return 1 end
        end
      end
    end
  end
  return 0
end

-- ARGV: PROX_ID, cursor, rows: reads so many rows of the outbox after the cursor: the last one, and the last one that holds
-- the person, each '' if there is none.
local function ms_outbox_of(keys, a)
  local last, mine = '', ''
  for _, row in ipairs(redis.call('XRANGE', keys[1] .. ':outbox', '(' .. a[2], '+', 'COUNT', a[3])) do
    last = row[1]
    for _, value in ipairs(row[2]) do
      if string.find(value, a[1], 1, true) then mine = last end
    end
  end
  return {last, mine}
end

-- ARGV: cursor. 1 while it is in the outbox.
local function ms_outbox_has(keys, a)
  return #redis.call('XRANGE', keys[1] .. ':outbox', a[1], a[1])
end

redis.register_function('ms_erase', ms_erase)
redis.register_function('ms_erased', ms_erased)
redis.register_function('ms_restrict', ms_restrict)
redis.register_function('ms_given_up', ms_given_up)
redis.register_function('ms_unrestrict', ms_unrestrict)
redis.register_function{function_name = 'ms_credential_of', callback = ms_credential_of, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_share', callback = ms_share, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_leaving', callback = ms_leaving, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_outbox_of', callback = ms_outbox_of, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_outbox_has', callback = ms_outbox_has, flags = {'no-writes'}}
