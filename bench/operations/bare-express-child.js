// The upper bound of the REST benchmark: Express with a route for each operation that returns the same JSON and, where
// the operation writes, makes the same commit with the same driver: the rows of a token, of the account events and of
// the response to a retry. It has no sign-in, rate limits, validation or log.
import { Buffer } from 'node:buffer';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import express from 'express';

const { version, board } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const database = new DatabaseSync(process.argv[3], { enableForeignKeyConstraints: true });
database.exec('pragma journal_mode = wal; pragma synchronous = full');
const [begin, commit] = ['begin immediate', 'commit'].map((sql) => database.prepare(sql));
const prepareInsert = (table, columns) =>
  database.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`);
const token = prepareInsert('tokens', [
  ...['id', 'kind', 'hash', 'person_id', 'consumer', 'label', 'scopes', 'created_at', 'expires_at'],
]);
const event = prepareInsert('account_events', [
  ...['id', 'at', 'action', 'person_id', 'actor_type', 'actor_id', 'subject', 'address'],
]);
const replay = prepareInsert('replays', ['id', 'fingerprint', 'sealed', 'expires_at']);
const { id: person } = database.prepare('select id from people limit 1').get();

// The driver closes a connection without references, even if statements exist.
process.once('exit', () => database.close());

const app = express().disable('x-powered-by');
app.get('/api/version', (_request, response) => response.json(version));
app.get('/api/dashboard', (_request, response) => response.json(board));
app.post('/api/tokens', express.json(), ({ body: { label, expiresAt } }, response) => {
  const [id, text] = [randomBytes(16).toString('base64url'), `trl_${randomBytes(32).toString('base64url')}`];
  const [at, until] = [Date.now(), Date.parse(expiresAt)];
  const answer = { id, label, scopes: ['read'], createdAt: new Date(at).toISOString(), expiresAt, token: text };
  begin.run();
  token.run(id, 'personal', digestOf(text), person, null, label, 'read', at, until);
  event.run(randomUUID(), at, 'token_created', person, 'session', person, id, '127.0.0.1');
  replay.run(digestOf(randomUUID()), digestOf(label), Buffer.from(JSON.stringify(answer)), until);
  commit.run();
  response.status(201).json(answer);
});

const digestOf = (value) => createHash('sha256').update(value).digest('hex');

const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`ready at http://127.0.0.1:${server.address().port}\n`);
});
