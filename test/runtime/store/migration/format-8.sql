-- A store of format 8 with rows of every kind, as the version that wrote it left them (sqlite3 state.db .dump).
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE dispatch (
    ref INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    profile TEXT NOT NULL,
    route TEXT,
    job TEXT,
    mode TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    max_concurrent INTEGER,
    head TEXT NOT NULL,
    body TEXT NOT NULL,
    session TEXT,
    burst INTEGER
  ) STRICT;
INSERT INTO dispatch VALUES(1,'ended-done','default','ended',NULL,'agent',1000,NULL,'["push","delivery-ended-done",null,0,null,null]','{"id":"ended-done","mode":"agent","profile":"default","route":"ended","job":null,"event":"push","delivery_id":"delivery-ended-done","accepted_at":1000,"due_at":null,"prompt":"prompt of ended-done","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-ended-done","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(2,'ended-dead','default','ended',NULL,'agent',1000,NULL,'["push","delivery-ended-dead",null,0,null,null]','{"id":"ended-dead","mode":"agent","profile":"default","route":"ended","job":null,"event":"push","delivery_id":"delivery-ended-dead","accepted_at":1000,"due_at":null,"prompt":"prompt of ended-dead","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-ended-dead","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(3,'ended-skipped','default','ended',NULL,'agent',1000,NULL,'["push","delivery-ended-skipped",null,0,null,null]','{"id":"ended-skipped","mode":"agent","profile":"default","route":"ended","job":null,"event":"push","delivery_id":"delivery-ended-skipped","accepted_at":1000,"due_at":null,"prompt":"prompt of ended-skipped","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-ended-skipped","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(4,'session-1','default','session',NULL,'agent',1000,NULL,'["push","delivery-session-1",null,0,null,"webhook:session:a"]','{"id":"session-1","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-1","accepted_at":1000,"due_at":null,"prompt":"prompt of session-1","skills":[],"toolsets":["web_search"],"session":"webhook:session:a","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"a"}','["default","webhook:session:a"]',NULL);
INSERT INTO dispatch VALUES(5,'session-2','default','session',NULL,'agent',1000,NULL,'["push","delivery-session-2",null,0,null,"webhook:session:a"]','{"id":"session-2","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-2","accepted_at":1000,"due_at":null,"prompt":"prompt of session-2","skills":[],"toolsets":["web_search"],"session":"webhook:session:a","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"a"}','["default","webhook:session:a"]',NULL);
INSERT INTO dispatch VALUES(6,'session-3','default','session',NULL,'agent',1000,NULL,'["push","delivery-session-3",null,0,null,"webhook:session:a"]','{"id":"session-3","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-3","accepted_at":1000,"due_at":null,"prompt":"prompt of session-3","skills":[],"toolsets":["web_search"],"session":"webhook:session:a","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"a"}','["default","webhook:session:a"]',NULL);
INSERT INTO dispatch VALUES(7,'session-4','default','session',NULL,'agent',1000,NULL,'["push","delivery-session-4",null,0,null,"webhook:session:b"]','{"id":"session-4","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-4","accepted_at":1000,"due_at":null,"prompt":"prompt of session-4","skills":[],"toolsets":["web_search"],"session":"webhook:session:b","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"b"}','["default","webhook:session:b"]',NULL);
INSERT INTO dispatch VALUES(8,'session-5','default','session',NULL,'agent',1000,NULL,'["push","delivery-session-5",null,0,null,"webhook:session:b"]','{"id":"session-5","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-5","accepted_at":1000,"due_at":null,"prompt":"prompt of session-5","skills":[],"toolsets":["web_search"],"session":"webhook:session:b","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"b"}','["default","webhook:session:b"]',NULL);
INSERT INTO dispatch VALUES(9,'group-1','default','group',NULL,'agent',1000,NULL,'["push","delivery-group-1",null,0,null,null]','{"id":"group-1","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-1","accepted_at":1000,"due_at":null,"prompt":"prompt of group-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-group-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(10,'group-2','default','group',NULL,'agent',1000,NULL,'["push","delivery-group-2",null,1,null,null]','{"id":"group-2","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-2","accepted_at":1000,"due_at":null,"prompt":"prompt of group-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-group-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(11,'group-3','default','group',NULL,'agent',1000,NULL,'["push","delivery-group-3",null,0,null,"webhook:session:c"]','{"id":"group-3","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-3","accepted_at":1000,"due_at":null,"prompt":"prompt of group-3","skills":[],"toolsets":["web_search"],"session":"webhook:session:c","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"c"}','["default","webhook:session:c"]',NULL);
INSERT INTO dispatch VALUES(12,'session-6','default','session',NULL,'agent',1000,NULL,'["push","delivery-session-6",null,0,null,"webhook:session:c"]','{"id":"session-6","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-6","accepted_at":1000,"due_at":null,"prompt":"prompt of session-6","skills":[],"toolsets":["web_search"],"session":"webhook:session:c","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"c"}','["default","webhook:session:c"]',NULL);
INSERT INTO dispatch VALUES(13,'group-4','default','group',NULL,'agent',1000,NULL,'["push","delivery-group-4",null,1,null,"webhook:session:c"]','{"id":"group-4","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-4","accepted_at":1000,"due_at":null,"prompt":"prompt of group-4","skills":[],"toolsets":["web_search"],"session":"webhook:session:c","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"c"}','["default","webhook:session:c"]',NULL);
INSERT INTO dispatch VALUES(14,'message-1','default','message',NULL,'message',1000,NULL,'["push","delivery-message-1",null,0,null,null]','{"id":"message-1","mode":"message","profile":"default","route":"message","job":null,"event":"push","delivery_id":"delivery-message-1","accepted_at":1000,"due_at":null,"prompt":"prompt of message-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-message-1","deliveries":[{"target":"log","extra":{},"unresolved":[]},{"target":"email","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(15,'approval-1','default','approval',NULL,'message',1000,NULL,'["push","delivery-approval-1",null,0,null,null]','{"id":"approval-1","mode":"message","profile":"default","route":"approval","job":null,"event":"push","delivery_id":"delivery-approval-1","accepted_at":1000,"due_at":null,"prompt":"prompt of approval-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-approval-1","deliveries":[{"target":"log","extra":{},"unresolved":[],"approve_ms":100000}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(16,'approval-2','default','approval',NULL,'message',1000,NULL,'["push","delivery-approval-2",null,0,null,null]','{"id":"approval-2","mode":"message","profile":"default","route":"approval","job":null,"event":"push","delivery_id":"delivery-approval-2","accepted_at":1000,"due_at":null,"prompt":"prompt of approval-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-approval-2","deliveries":[{"target":"log","extra":{},"unresolved":[],"approve_ms":100000}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(17,'approval-told','default',NULL,NULL,'message',1000,NULL,'["push","delivery-approval-told",null,0,null,null]','{"id":"approval-told","mode":"message","profile":"default","route":null,"job":null,"event":"push","delivery_id":"delivery-approval-told","accepted_at":1000,"due_at":null,"prompt":"prompt of approval-told","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-approval-told","deliveries":[{"target":"messenger_a","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(18,'direct-1','default','direct',NULL,'direct',1000,NULL,'["push","delivery-direct-1",null,0,null,null]','{"id":"direct-1","mode":"direct","profile":"default","route":"direct","job":null,"event":"push","delivery_id":"delivery-direct-1","accepted_at":1000,"due_at":null,"prompt":"prompt of direct-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-direct-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(19,'paused-1','default','paused',NULL,'agent',1000,NULL,'["push","delivery-paused-1",null,0,null,null]','{"id":"paused-1","mode":"agent","profile":"default","route":"paused","job":null,"event":"push","delivery_id":"delivery-paused-1","accepted_at":1000,"due_at":null,"prompt":"prompt of paused-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-paused-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(20,'paused-2','default','paused',NULL,'message',1000,NULL,'["push","delivery-paused-2",null,0,null,null]','{"id":"paused-2","mode":"message","profile":"default","route":"paused","job":null,"event":"push","delivery_id":"delivery-paused-2","accepted_at":1000,"due_at":null,"prompt":"prompt of paused-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-paused-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(21,'fires-1','default','fires','held','job',1000,NULL,'["push","delivery-fires-1",null,0,null,null]','{"id":"fires-1","mode":"job","profile":"default","route":"fires","job":"held","event":"push","delivery_id":"delivery-fires-1","accepted_at":1000,"due_at":null,"prompt":"prompt of fires-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-fires-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(22,'held-2000','default',NULL,'held','job',1000,NULL,'["push","delivery-held-2000",null,0,null,null]','{"id":"held-2000","mode":"job","profile":"default","route":null,"job":"held","event":"push","delivery_id":"delivery-held-2000","accepted_at":1000,"due_at":2000,"prompt":"prompt of held-2000","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-held-2000","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(23,'fires-2','default','fires','alone','job',1000,NULL,'["push","delivery-fires-2",null,0,null,null]','{"id":"fires-2","mode":"job","profile":"default","route":"fires","job":"alone","event":"push","delivery_id":"delivery-fires-2","accepted_at":1000,"due_at":null,"prompt":"prompt of fires-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-fires-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(24,'fires-3','default','fires','both','job',1000,NULL,'["push","delivery-fires-3",null,0,null,null]','{"id":"fires-3","mode":"job","profile":"default","route":"fires","job":"both","event":"push","delivery_id":"delivery-fires-3","accepted_at":1000,"due_at":null,"prompt":"prompt of fires-3","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-fires-3","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(25,'other-1','default','other','both','job',1000,NULL,'["push","delivery-other-1",null,0,null,null]','{"id":"other-1","mode":"job","profile":"default","route":"other","job":"both","event":"push","delivery_id":"delivery-other-1","accepted_at":1000,"due_at":null,"prompt":"prompt of other-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-other-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(26,'by-hand','default',NULL,'busy','job',1000,NULL,'["push","delivery-by-hand",null,0,null,null]','{"id":"by-hand","mode":"job","profile":"default","route":null,"job":"busy","event":"push","delivery_id":"delivery-by-hand","accepted_at":1000,"due_at":null,"prompt":"prompt of by-hand","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-by-hand","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(27,'budget-1','default','budget',NULL,'agent',1000,NULL,'["push","delivery-budget-1",null,0,null,null]','{"id":"budget-1","mode":"agent","profile":"default","route":"budget","job":null,"event":"push","delivery_id":"delivery-budget-1","accepted_at":1000,"due_at":null,"prompt":"prompt of budget-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-budget-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(28,'budget-2','default','budget',NULL,'agent',1000,NULL,'["push","delivery-budget-2",null,0,null,null]','{"id":"budget-2","mode":"agent","profile":"default","route":"budget","job":null,"event":"push","delivery_id":"delivery-budget-2","accepted_at":1000,"due_at":null,"prompt":"prompt of budget-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-budget-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(29,'spent-1','default','spent',NULL,'agent',1000,NULL,'["push","delivery-spent-1",null,0,null,null]','{"id":"spent-1","mode":"agent","profile":"default","route":"spent","job":null,"event":"push","delivery_id":"delivery-spent-1","accepted_at":1000,"due_at":null,"prompt":"prompt of spent-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-spent-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(30,'taken-1','default','taken',NULL,'agent',1000,NULL,'["push","delivery-taken-1",null,0,null,null]','{"id":"taken-1","mode":"agent","profile":"default","route":"taken","job":null,"event":"push","delivery_id":"delivery-taken-1","accepted_at":1000,"due_at":null,"prompt":"prompt of taken-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-taken-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(31,'taken-2','default','taken',NULL,'agent',1000,NULL,'["push","delivery-taken-2",null,0,null,null]','{"id":"taken-2","mode":"agent","profile":"default","route":"taken","job":null,"event":"push","delivery_id":"delivery-taken-2","accepted_at":1000,"due_at":null,"prompt":"prompt of taken-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-taken-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(32,'limited-1','default','limited',NULL,'agent',1000,2,'["push","delivery-limited-1",null,0,null,null]','{"id":"limited-1","mode":"agent","profile":"default","route":"limited","job":null,"event":"push","delivery_id":"delivery-limited-1","accepted_at":1000,"due_at":null,"prompt":"prompt of limited-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-limited-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
INSERT INTO dispatch VALUES(33,'refused-1','default','approval',NULL,'message',3000,NULL,'["push","delivery-refused-1",null,0,null,null]','{"id":"refused-1","mode":"message","profile":"default","route":"approval","job":null,"event":"push","delivery_id":"delivery-refused-1","accepted_at":3000,"due_at":null,"prompt":"prompt of refused-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-refused-1","deliveries":[{"target":"log","extra":{},"unresolved":[],"approve_ms":100000}],"mirror_to_session":false,"superseded":0,"replay_of":null}',NULL,NULL);
CREATE TABLE work (
    ref INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    due_at INTEGER,
    started_at INTEGER,
    answered_at INTEGER,
    finished_at INTEGER,
    reason TEXT,
    lane TEXT,
    set_at INTEGER,
    holder TEXT,
    failed INTEGER NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0,
    session TEXT,
    turn INTEGER,
    blocked_by TEXT) STRICT;
INSERT INTO work VALUES(1,'done',1000,1000,1100,1150,NULL,'["default","ended"]',1000,NULL,0,1,NULL,NULL,NULL);
INSERT INTO work VALUES(2,'dead',1000,1000,NULL,1200,'"no way"','["default","ended"]',1000,NULL,1,1,NULL,NULL,NULL);
INSERT INTO work VALUES(3,'skipped',1000,1000,NULL,1200,'"silent"','["default","ended"]',1000,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(4,'running',1000,1300,NULL,NULL,NULL,'["default","session"]',1000,'this process',0,0,'["default","webhook:session:a"]',4,NULL);
INSERT INTO work VALUES(5,'pending',1000,NULL,NULL,NULL,NULL,'["default","session"]',1000,NULL,0,0,'["default","webhook:session:a"]',5,'session');
INSERT INTO work VALUES(6,'pending',1000,NULL,NULL,NULL,NULL,'["default","session"]',1000,NULL,0,0,'["default","webhook:session:a"]',6,'session');
INSERT INTO work VALUES(7,'pending',9000,1300,NULL,NULL,'"try again"','["default","session"]',1400,NULL,1,1,'["default","webhook:session:b"]',7,NULL);
INSERT INTO work VALUES(8,'pending',1000,NULL,NULL,NULL,NULL,'["default","session"]',1000,NULL,0,0,'["default","webhook:session:b"]',8,'session');
INSERT INTO work VALUES(9,'skipped',31500,NULL,NULL,1600,'"superseded by group-2"','["default","group"]',1500,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(10,'pending',31600,NULL,NULL,NULL,NULL,'["default","group"]',1600,NULL,0,0,NULL,9,NULL);
INSERT INTO work VALUES(11,'skipped',31500,NULL,NULL,1600,'"superseded by group-4"','["default","group"]',1500,NULL,0,0,NULL,11,NULL);
INSERT INTO work VALUES(12,'pending',1000,NULL,NULL,NULL,NULL,'["default","session"]',1000,NULL,0,0,'["default","webhook:session:c"]',12,'session');
INSERT INTO work VALUES(13,'pending',31600,NULL,NULL,NULL,NULL,'["default","group"]',1600,NULL,0,0,'["default","webhook:session:c"]',11,NULL);
INSERT INTO work VALUES(14,'delivering',1000,NULL,NULL,NULL,'"busy"','["default","message"]',1000,NULL,0,2,NULL,NULL,NULL);
INSERT INTO work VALUES(15,'delivering',1000,NULL,NULL,NULL,NULL,'["default","approval"]',1000,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(16,'delivering',1000,NULL,NULL,NULL,NULL,'["default","approval"]',1000,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(17,'delivering',1800,NULL,NULL,NULL,NULL,'["default",null]',1800,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(18,'delivering',1000,NULL,NULL,NULL,NULL,'["default","direct"]',1000,'this process',0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(19,'pending',1000,NULL,NULL,NULL,NULL,'["default","paused"]',1000,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(20,'pending',1000,NULL,NULL,NULL,NULL,'["default","paused"]',1000,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(21,'pending',1900,NULL,NULL,NULL,NULL,'["default","fires"]',1900,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(22,'running',2000,2100,NULL,NULL,NULL,'["default",null]',2000,'this process',0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(23,'pending',1900,NULL,NULL,NULL,NULL,'["default","fires"]',1900,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(24,'pending',1900,NULL,NULL,NULL,NULL,'["default","fires"]',1900,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(25,'pending',1900,NULL,NULL,NULL,NULL,'["default","other"]',1900,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(26,'running',1900,2100,NULL,NULL,NULL,'["default",null]',1900,'this process',0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(27,'running',1000,2100,NULL,NULL,NULL,'["default","budget"]',1000,'this process',0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(28,'running',3100,3250,NULL,NULL,NULL,'["default","budget"]',2100,'this process',0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(29,'done',1000,2150,2200,2200,NULL,'["default","spent"]',1000,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(30,'running',1000,2200,NULL,NULL,NULL,'["default","taken"]',1000,'this process',0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(31,'pending',3200,2200,NULL,NULL,NULL,'["default","taken"]',2200,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(32,'pending',1000,NULL,NULL,NULL,NULL,'["default","limited"]',1000,NULL,0,0,NULL,NULL,NULL);
INSERT INTO work VALUES(33,'delivering',3000,NULL,NULL,NULL,NULL,'["default","approval"]',3000,NULL,0,1,NULL,33,NULL);
CREATE TABLE delivery (
    ref INTEGER NOT NULL,
    n INTEGER NOT NULL,
    lane TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    set_at INTEGER NOT NULL,
    holder TEXT,
    waiting TEXT,
    PRIMARY KEY (ref, n)
  ) STRICT, WITHOUT ROWID;
INSERT INTO delivery VALUES(14,1,'["default","email"]',8000,1750,NULL,NULL);
INSERT INTO delivery VALUES(15,0,'["default","log"]',101000,1000,NULL,'new');
INSERT INTO delivery VALUES(16,0,'["default","log"]',101000,1000,NULL,'told');
INSERT INTO delivery VALUES(17,0,'["default","telegram"]',1800,1800,'this process',NULL);
INSERT INTO delivery VALUES(33,0,'["default","log"]',3100,3100,NULL,'rejected');
CREATE TABLE answer (ref INTEGER PRIMARY KEY, text TEXT NOT NULL, program TEXT) STRICT;
INSERT INTO answer VALUES(1,'"said"','{"exit_code":0,"signal":null,"stderr":""}');
INSERT INTO answer VALUES(29,'"x"',NULL);
CREATE TABLE step (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
INSERT INTO step VALUES(1048577,'{"kind":"delivery","index":0,"outcome":"ok","started_at":1140,"at":1150,"reason":null,"next_at":null,"sent":0,"message_id":null}');
INSERT INTO step VALUES(2097153,'{"kind":"run","index":null,"outcome":"failed","started_at":1500,"at":2000,"reason":"no way","next_at":null,"sent":0,"message_id":null}');
INSERT INTO step VALUES(7340033,'{"kind":"run","index":null,"outcome":"failed","started_at":1500,"at":2000,"reason":"try again","next_at":9000,"sent":0,"message_id":null}');
INSERT INTO step VALUES(14680065,'{"kind":"delivery","index":0,"outcome":"ok","started_at":1740,"at":1750,"reason":null,"next_at":null,"sent":0,"message_id":null}');
INSERT INTO step VALUES(14680066,'{"kind":"delivery","index":1,"outcome":"retry","started_at":1740,"at":1750,"reason":"busy","next_at":8000,"sent":0,"message_id":null}');
INSERT INTO step VALUES(34603009,'{"kind":"delivery","index":0,"outcome":"rejected","started_at":3100,"at":3100,"reason":"spam","next_at":null,"sent":0,"message_id":null,"by":"ann"}');
CREATE TABLE claim (key TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO claim VALUES('["default","alerts","delivery-group-1"]',100000);
INSERT INTO claim VALUES('["default","alerts","delivery-group-2"]',100000);
INSERT INTO claim VALUES('["default","alerts","delivery-group-3"]',100000);
INSERT INTO claim VALUES('["default","alerts","delivery-group-4"]',100000);
INSERT INTO claim VALUES('["default","approval","delivery-approval-1"]',10000000);
INSERT INTO claim VALUES('["default","approval","delivery-approval-2"]',10000000);
INSERT INTO claim VALUES('["default","approval","delivery-refused-1"]',10000000);
INSERT INTO claim VALUES('["default","budget","delivery-budget-1"]',10000000);
INSERT INTO claim VALUES('["default","budget","delivery-budget-2"]',10000000);
INSERT INTO claim VALUES('["default","ended","delivery-ended-dead"]',10000000);
INSERT INTO claim VALUES('["default","ended","delivery-ended-done"]',10000000);
INSERT INTO claim VALUES('["default","ended","delivery-ended-skipped"]',10000000);
INSERT INTO claim VALUES('["default","fires","delivery-fires-1"]',10000000);
INSERT INTO claim VALUES('["default","fires","delivery-fires-2"]',10000000);
INSERT INTO claim VALUES('["default","fires","delivery-fires-3"]',10000000);
INSERT INTO claim VALUES('["default","limited","delivery-limited-1"]',10000000);
INSERT INTO claim VALUES('["default","message","delivery-message-1"]',10000000);
INSERT INTO claim VALUES('["default","other","delivery-other-1"]',10000000);
INSERT INTO claim VALUES('["default","paused","delivery-paused-1"]',10000000);
INSERT INTO claim VALUES('["default","paused","delivery-paused-2"]',10000000);
INSERT INTO claim VALUES('["default","session","delivery-session-1"]',10000000);
INSERT INTO claim VALUES('["default","session","delivery-session-2"]',10000000);
INSERT INTO claim VALUES('["default","session","delivery-session-3"]',10000000);
INSERT INTO claim VALUES('["default","session","delivery-session-4"]',10000000);
INSERT INTO claim VALUES('["default","session","delivery-session-5"]',10000000);
INSERT INTO claim VALUES('["default","session","delivery-session-6"]',10000000);
INSERT INTO claim VALUES('["default","spent","delivery-spent-1"]',10000000);
INSERT INTO claim VALUES('["default","taken","delivery-taken-1"]',10000000);
INSERT INTO claim VALUES('["default","taken","delivery-taken-2"]',10000000);
CREATE TABLE coalesce_group (
    key TEXT PRIMARY KEY,
    ref INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    window_ms INTEGER NOT NULL,
    max_wait_ms INTEGER NOT NULL,
    superseded INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO coalesce_group VALUES('["default","group","x"]',10,1500,31600,0,0,1);
INSERT INTO coalesce_group VALUES('["default","group","y"]',13,1500,31600,0,0,1);
CREATE TABLE tally (
    profile TEXT NOT NULL,
    route TEXT NOT NULL,
    accepted INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    pending INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    delivering INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    max_concurrent INTEGER,
    PRIMARY KEY (profile, route)
  ) STRICT, WITHOUT ROWID;
INSERT INTO tally VALUES('default','',3,0,0,2,1,0,0,0,NULL);
INSERT INTO tally VALUES('default','approval',3,0,0,0,3,0,0,0,NULL);
INSERT INTO tally VALUES('default','budget',2,0,0,2,0,0,0,0,NULL);
INSERT INTO tally VALUES('default','direct',1,0,0,0,1,0,0,0,NULL);
INSERT INTO tally VALUES('default','ended',3,0,0,0,0,1,1,1,NULL);
INSERT INTO tally VALUES('default','fires',3,0,3,0,0,0,0,0,NULL);
INSERT INTO tally VALUES('default','group',4,0,2,0,0,0,0,2,NULL);
INSERT INTO tally VALUES('default','limited',1,0,1,0,0,0,0,0,2);
INSERT INTO tally VALUES('default','message',1,0,0,0,1,0,0,0,NULL);
INSERT INTO tally VALUES('default','other',1,0,1,0,0,0,0,0,NULL);
INSERT INTO tally VALUES('default','paused',2,0,2,0,0,0,0,0,NULL);
INSERT INTO tally VALUES('default','session',6,0,5,1,0,0,0,0,NULL);
INSERT INTO tally VALUES('default','spent',1,0,0,0,0,1,0,0,NULL);
INSERT INTO tally VALUES('default','taken',2,0,1,1,0,0,0,0,NULL);
CREATE TABLE job (id TEXT PRIMARY KEY, profile TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL)
    STRICT, WITHOUT ROWID;
INSERT INTO job VALUES('dynamic','default','name-of-dynamic','{"id":"dynamic","profile":"default","name":"name-of-dynamic","description":null,"schedule":"0 8 * * *","timezone":"UTC","prompt":"prompt of dynamic","deliver":[{"target":"local","extra":{}}],"skills":[],"toolsets":null,"misfire":"skip","created_at":1000,"blueprint":null}');
CREATE TABLE job_state (job TEXT PRIMARY KEY, paused INTEGER, cursor INTEGER, signature TEXT, ref INTEGER, paused_until INTEGER)
    STRICT, WITHOUT ROWID;
INSERT INTO job_state VALUES('alone',NULL,NULL,NULL,23,NULL);
INSERT INTO job_state VALUES('both',NULL,NULL,NULL,25,NULL);
INSERT INTO job_state VALUES('busy',NULL,NULL,NULL,26,NULL);
INSERT INTO job_state VALUES('dynamic',NULL,1900,'s',NULL,NULL);
INSERT INTO job_state VALUES('held',NULL,2000,NULL,22,NULL);
INSERT INTO job_state VALUES('resting',1,NULL,NULL,NULL,70000);
CREATE TABLE job_tick (
    job TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    ref INTEGER,
    missed INTEGER NOT NULL,
    PRIMARY KEY (job, due_at)
  ) STRICT, WITHOUT ROWID;
INSERT INTO job_tick VALUES('held',2000,'fired',22,0);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('jobs_version','2');
INSERT INTO meta VALUES('last_error','{"id":"message-1","route":"message","at":1750,"reason":"busy"}');
INSERT INTO meta VALUES('store','{"id":"2d914a7a-098b-41e5-b621-4b50d8b69307","starts":2,"is_open":false}');
CREATE TABLE message (key TEXT PRIMARY KEY, ref INTEGER NOT NULL, ttl_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO message VALUES('["default","approval","delivery-approval-1"]',15,9999000);
INSERT INTO message VALUES('["default","approval","delivery-approval-2"]',16,9999000);
INSERT INTO message VALUES('["default","approval","delivery-refused-1"]',33,9997000);
INSERT INTO message VALUES('["default","direct","delivery-direct-1"]',18,9999000);
INSERT INTO message VALUES('["default","message","delivery-message-1"]',14,9999000);
INSERT INTO message VALUES('["default","paused","delivery-paused-2"]',20,9999000);
CREATE TABLE guard_state (id TEXT PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, expires_at INTEGER)
    STRICT, WITHOUT ROWID;
INSERT INTO guard_state VALUES('["budget","[\"route\",\"default\",\"budget\",\"hour\"]"]','budget','"[\"route\",\"default\",\"budget\",\"hour\"]"','{"since":0,"until":3600000,"runs":2,"tokens":0,"cost":0,"refused":false,"largest_tokens":null,"largest_cost":null,"under_way":[27]}',608400000);
INSERT INTO guard_state VALUES('["budget","[\"route\",\"default\",\"spent\",\"hour\"]"]','budget','"[\"route\",\"default\",\"spent\",\"hour\"]"','{"since":0,"until":3600000,"runs":1,"tokens":1,"cost":1.5,"refused":true,"largest_tokens":1,"largest_cost":1.5,"under_way":[]}',608400000);
INSERT INTO guard_state VALUES('["budget","[\"route\",\"default\",\"taken\",\"hour\"]"]','budget','"[\"route\",\"default\",\"taken\",\"hour\"]"','{"since":0,"until":3600000,"runs":0,"tokens":0,"cost":0,"refused":false,"largest_tokens":null,"largest_cost":null,"under_way":[30]}',608400000);
INSERT INTO guard_state VALUES('["pause","[\"default\",\"fires\"]"]','pause','"[\"default\",\"fires\"]"','{"since":1800,"until":null}',NULL);
INSERT INTO guard_state VALUES('["pause","[\"default\",\"other\"]"]','pause','"[\"default\",\"other\"]"','{"since":1950,"until":null}',NULL);
INSERT INTO guard_state VALUES('["pause","[\"default\",\"paused\"]"]','pause','"[\"default\",\"paused\"]"','{"since":1800,"until":50000}',50000);
INSERT INTO guard_state VALUES('["runs","[\"k\"]"]','runs','"[\"k\"]"','{"times":[1000],"until":null}',601000);
CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    ref INTEGER NOT NULL,
    at INTEGER NOT NULL,
    agent TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost REAL
  ) STRICT;
INSERT INTO usage VALUES(1,1,1100,'reviewer',10,5,0.5);
INSERT INTO usage VALUES(2,29,2200,NULL,1,NULL,1.5);
CREATE TABLE figure (minute INTEGER PRIMARY KEY, taken INTEGER NOT NULL, ignored INTEGER NOT NULL, duplicate INTEGER NOT NULL, refused INTEGER NOT NULL, failed INTEGER NOT NULL, half_us INTEGER NOT NULL, most_us INTEGER NOT NULL, waiting INTEGER NOT NULL) STRICT;
INSERT INTO figure VALUES(0,3,1,0,0,0,10,20,2);
CREATE INDEX dispatch_session ON dispatch (session, ref) WHERE session IS NOT NULL;
CREATE INDEX dispatch_burst ON dispatch (burst, ref) WHERE burst IS NOT NULL;
CREATE INDEX dispatch_accepted ON dispatch (accepted_at);
CREATE UNIQUE INDEX dispatch_id ON dispatch (id);
CREATE INDEX dispatch_route ON dispatch (route);
CREATE INDEX dispatch_job ON dispatch (job) WHERE job IS NOT NULL;
CREATE INDEX work_session ON work (session, turn) WHERE session IS NOT NULL;
CREATE INDEX work_held ON work (holder) WHERE holder IS NOT NULL;
CREATE INDEX work_open ON work (ref) WHERE finished_at IS NULL;
CREATE INDEX work_dead ON work (ref) WHERE state = 'dead';
CREATE INDEX work_skipped ON work (ref) WHERE state = 'skipped';
CREATE INDEX delivery_due ON delivery (lane, due_at, ref, n) WHERE holder IS NULL;
CREATE INDEX delivery_held ON delivery (holder, lane) WHERE holder IS NOT NULL;
CREATE INDEX delivery_waiting ON delivery (ref, n) WHERE waiting IS NOT NULL;
CREATE INDEX group_ref ON coalesce_group (ref);
CREATE UNIQUE INDEX job_name ON job (profile, name);
CREATE INDEX message_ref ON message (ref);
CREATE INDEX guard_kind ON guard_state (kind, id);
CREATE INDEX usage_ref ON usage (ref);
CREATE INDEX usage_at ON usage (at);
CREATE INDEX work_due ON work (lane, due_at, ref, blocked_by) WHERE state = 'pending' AND blocked_by IS NULL;
COMMIT;
PRAGMA user_version = 8;
