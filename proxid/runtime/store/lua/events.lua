-- Evidence (DESIGN 10.1): an event gets its number in the same atomic step as the change it describes.
-- The stream's entry id is the event's number, so the log is gap-free by construction.
-- Salts come from the caller: functions have no randomness of their own.
-- The store's clock stands still within a step: field u tells the writer which events belong together.

-- The name of a key below another, of one to four parts: put together at once, since a step names a dozen.
local function below(base, a, b, c, d)
  if d ~= nil then return base .. ':' .. a .. ':' .. b .. ':' .. c .. ':' .. d end
  if c ~= nil then return base .. ':' .. a .. ':' .. b .. ':' .. c end
  if b ~= nil then return base .. ':' .. a .. ':' .. b end
  return base .. ':' .. a
end

-- While the log cannot be written nothing new is taken: plain events must not pile up. Asked before anything is changed. `full`: the
-- value of that key, or false, of who has read it.
local function require_room(prefix, full)
  if full == nil then full = redis.call('GET', prefix .. ':events:full') end
  if full then error({err = 'LOGFULL the evidence log has no room'}) end
end

-- A step's fields by name, and where the rows that may follow them begin: names and values in turns, '' for a name, rows.
local function named(a)
  local fields, i = {}, 1
  while a[i] and a[i] ~= '' do
    fields[a[i]] = a[i + 1]
    i = i + 2
  end
  return fields, i + 1
end

-- `time`: the step's, of who has asked for it.
local function append_event(prefix, kind, salt, header, payload, time)
  local number = redis.call('INCR', prefix .. ':events:n')
  time = time or redis.call('TIME')
  redis.call('XADD', prefix .. ':events', number .. '-0', 't', kind, 's', salt, 'h', header, 'p', payload,
    'u', time[1] .. '.' .. time[2])
  return number
end

-- Where an event stands: the origin of its log, empty for a first one, and the number there. What is promised is said so.
local function place_of(prefix, number)
  local log = redis.call('HMGET', prefix .. ':events:log', 'origin', 'base')
  return (log[1] or '') .. ' ' .. string.format('%d', number - tonumber(log[2] or '0'))
end
