-- A run, as one SQLite file that can be read without localville.
-- Times are game seconds since 1970-01-01 00:00 without zones: datetime(at, 'unixepoch') prints them.
-- Every table with a column `step` is append-only; rows of one step land together or not at all.

CREATE TABLE meta (                    -- one row a key: schema_version; alarms_step, the last step that alarms were
                                       -- measured from; and the writer's process id while it runs
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE agents (                  -- who lives here; `id` is the order in which decisions are applied
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  persona TEXT NOT NULL                -- JSON, as read from the persona file
) STRICT;

CREATE TABLE steps (                   -- the steps that were lived; idle spans between them are skipped
  step INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  hash TEXT NOT NULL                   -- sha256 over the hash before and this step's facts (localville/record/hash.py)
) STRICT;

CREATE TABLE events (                  -- what happened: wake, act, arrive, sleep, reflect, talk, react, wait, avoid
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE positions (               -- a row for every tile walked, and one for everybody's first
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  x INTEGER NOT NULL,                  -- tiles from the left
  y INTEGER NOT NULL                   -- tiles from the top
) STRICT;

CREATE TABLE memories (                -- the memory streams; (agent, id) is what evidence points at
  step INTEGER NOT NULL,               -- 0 for the memories of the persona file
  agent TEXT NOT NULL,
  id INTEGER NOT NULL,                 -- 1, 2, 3 … within the agent
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'reflection', 'plan', 'chat')),
  text TEXT NOT NULL,
  created INTEGER NOT NULL,
  last_access INTEGER NOT NULL,        -- changes: `accesses` and `repeats` keep when
  importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
  evidence TEXT NOT NULL,              -- JSON list of ids: what a reflection rests on
  people TEXT NOT NULL,                -- JSON list of names: who took part in a chat
  count INTEGER NOT NULL,              -- how often it was made; changes: `repeats` keeps when
  embedding BLOB NOT NULL,             -- float32, little-endian, L2-normalised
  PRIMARY KEY (agent, id)
) STRICT;

CREATE TABLE accesses (                -- which memories were retrieved in a step, each once
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  memory INTEGER NOT NULL
) STRICT;

CREATE TABLE repeats (                 -- memories made again in a step: they reinforce the one they repeat
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  memory INTEGER NOT NULL
) STRICT;

CREATE TABLE questions (               -- the focal questions that agents asked themselves before they reflected
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  question TEXT NOT NULL
) STRICT;

CREATE TABLE summaries (               -- what an agent made of its memories: 'core', 'occupation', 'progress', 'day'
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  part TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE promises (                -- what an agent has agreed to do, and where it comes from
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  date TEXT NOT NULL,                  -- 2023-02-14
  start INTEGER NOT NULL,              -- here and in `end` seconds of that day
  "end" INTEGER NOT NULL,
  place TEXT NOT NULL,
  activity TEXT NOT NULL,
  source TEXT NOT NULL                 -- the memory it was found in
) STRICT;

CREATE TABLE utterances (              -- what was said
  step INTEGER NOT NULL,
  talk INTEGER NOT NULL,               -- 1, 2, 3 … within the run
  turn INTEGER NOT NULL,               -- 1, 2, 3 … within the talk
  speaker TEXT NOT NULL,
  listener TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE plans (                   -- one row a line of a plan: the day in broad strokes, a part of it in hours
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('day', 'hours')),
  start INTEGER NOT NULL,              -- here and in `end` seconds of the day of the step; 86400 is the next midnight
  "end" INTEGER NOT NULL,
  activity TEXT NOT NULL,
  place TEXT NOT NULL
) STRICT;

CREATE TABLE actions (                 -- what was done, in actions of 5 to 15 minutes, and nights
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  text TEXT NOT NULL,                  -- the words that follow "is"
  sector TEXT NOT NULL,
  arena TEXT NOT NULL,
  object TEXT NOT NULL,
  object_state TEXT NOT NULL,
  emoji TEXT NOT NULL
) STRICT;

CREATE TABLE object_states (           -- every change of an object's state
  step INTEGER NOT NULL,
  address TEXT NOT NULL,               -- sector:arena:object
  state TEXT NOT NULL
) STRICT;

CREATE TABLE asks (                    -- every question to the model and its answer
  step INTEGER NOT NULL,
  agent TEXT NOT NULL,
  purpose TEXT NOT NULL,
  prompt TEXT NOT NULL,                -- JSON list of prompt_parts.key, in order
  form TEXT NOT NULL,                  -- JSON: kind of answer, options or grammar
  seed TEXT NOT NULL,                  -- 64 bits, in hexadecimal
  answer TEXT NOT NULL,
  probabilities TEXT,                  -- JSON list, by option; null where the answer was written
  attempt INTEGER NOT NULL,            -- 0, or how often it was tried again
  prompt_tokens INTEGER NOT NULL,
  reused_tokens INTEGER NOT NULL,      -- of the prompt tokens
  forced_tokens INTEGER NOT NULL,
  generated_tokens INTEGER NOT NULL,
  seconds REAL NOT NULL                -- wall time; like the token counts, no fact of the world and not hashed
) STRICT;

CREATE TABLE prompt_parts (            -- each piece of a prompt once
  key TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  name TEXT NOT NULL,                  -- how stable it is: town, persona, task, situation
  text TEXT NOT NULL
) STRICT;

CREATE TABLE checkpoint (              -- the latest state of everybody (and of the town), as JSON: what a resume needs
  agent TEXT PRIMARY KEY,              -- '' is the town
  step INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE TABLE alarms (                  -- what people would not do, measured when the run ended or was interrupted.
                                       -- A measurement and no fact of the town: written anew each time, and not hashed
  agent TEXT NOT NULL,
  partner TEXT NOT NULL,               -- the other of a pair, or ''
  kind TEXT NOT NULL,                  -- same action, odd sleep, no talk … (localville/record/alarm.py)
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  text TEXT NOT NULL                   -- a sentence with the evidence
) STRICT;

CREATE INDEX asks_by_step ON asks (step);
CREATE INDEX events_by_step ON events (step);
CREATE INDEX positions_by_step ON positions (step);
CREATE INDEX memories_by_step ON memories (step);
CREATE INDEX accesses_by_step ON accesses (step);
CREATE INDEX repeats_by_step ON repeats (step);
CREATE INDEX questions_by_step ON questions (step);
CREATE INDEX summaries_by_step ON summaries (step);
CREATE INDEX promises_by_step ON promises (step);
CREATE INDEX utterances_by_step ON utterances (step);
CREATE INDEX plans_by_step ON plans (step);
CREATE INDEX object_states_by_step ON object_states (step);
CREATE INDEX actions_by_step ON actions (step);
CREATE INDEX actions_by_agent ON actions (agent, start);

CREATE VIEW lived AS                   -- actions with the end they really had: a talk may come between
  SELECT step, agent, start, min("end", lead(start, 1, "end") OVER (PARTITION BY agent ORDER BY rowid)) AS "end", text,
         sector, arena, object, object_state, emoji, rowid AS nr
  FROM actions;

CREATE VIEW timeline AS                -- each agent's days, readable
  SELECT agent, date(start, 'unixepoch') AS day, strftime('%H:%M', start, 'unixepoch') AS "from",
         strftime('%H:%M', "end", 'unixepoch') AS "until", emoji, text, sector, arena, object, object_state
  FROM lived ORDER BY agent, start;

CREATE VIEW totals AS                  -- what the model was asked, by purpose
  SELECT purpose, count(*) AS asks, sum(attempt) AS retries, sum(prompt_tokens) AS prompt_tokens,
         sum(reused_tokens) AS reused_tokens, sum(forced_tokens) AS forced_tokens,
         sum(generated_tokens) AS generated_tokens, sum(seconds) AS seconds
  FROM asks GROUP BY purpose ORDER BY purpose;

CREATE VIEW memory_lines AS            -- the memory streams without vectors
  SELECT agent, id, kind, datetime(created, 'unixepoch') AS created, importance, count, text FROM memories
  ORDER BY agent, id;

CREATE VIEW said AS                    -- every talk, line by line
  SELECT talk, turn, datetime(at, 'unixepoch') AS "when", speaker, text FROM utterances JOIN steps USING (step)
  ORDER BY talk, turn;
