// The upper bounds of the secrets benchmark: Express that sends the same bytes from the same database. Below /read it
// only reads. Below /audited each request also commits a row of the audit log with its hash, as the server does. It has
// no credentials, rate limits, validation or log.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import express from 'express';
import pg from 'pg';

const place = process.argv[2];
const { read, audited } = place.startsWith('postgres:') ? openPostgres(place) : openSqlite(place);

const SELECT = `select objects.id as id, sealed from secret_objects objects join secret_object_values present
  on present.object_id = objects.id and present.version = objects.version where slug = $1 limit 2`;
const HEAD = 'select count, hash from audit_head';
const INSERT = `insert into audit_log (id, action, at, ip, caller, actor_type, actor_id, subject_type, slug, variant_id,
  version, subject_id, previous_name, hash) values ($1, 'read', $2, $3, null, 'token', 'bench', 'object', $4, $5, null,
  null, null, $6)`;
const UPDATE = 'update audit_head set count = $1, hash = $2';

function next({ count, hash }, slug, variant) {
  const [id, at, ip] = [count + 1, Date.now(), '127.0.0.1'];
  const values = [hash, id, 'read', 'object', slug, variant, null, null, null, at, ip, null, 'token', 'bench'];
  const own = createHash('sha256').update(JSON.stringify(values)).digest('hex');
  return { row: [id, at, ip, slug, variant, own], head: [id, own] };
}

function openSqlite(file) {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -16384');
  // The driver closes a connection without references, even if statements exist.
  process.once('exit', () => database.close());
  const prepared = new Map();
  const prepare = (sql) => {
    if (!prepared.has(sql)) prepared.set(sql, database.prepare(sql.replaceAll(/\$\d/g, '?')));
    return prepared.get(sql);
  };
  const select = (slug) => prepare(SELECT).get(slug);
  return {
    read: async (slug) => select(slug).sealed,
    async audited(slug) {
      prepare('begin immediate').run();
      const { id, sealed } = select(slug);
      const { row, head } = next(prepare(HEAD).get(), slug, id);
      prepare(INSERT).run(...row);
      prepare(UPDATE).run(...head);
      prepare('commit').run();
      return sealed;
    },
  };
}

function openPostgres(connectionString) {
  const pool = new pg.Pool({ connectionString, max: 10 });
  return {
    read: async (slug) => (await pool.query(SELECT, [slug])).rows[0].sealed,
    async audited(slug) {
      const client = await pool.connect();
      await client.query('begin');
      const [{ count, hash }] = (await client.query(`${HEAD} for update`)).rows;
      const [{ id, sealed }] = (await client.query(SELECT, [slug])).rows;
      const { row, head } = next({ count: Number(count), hash }, slug, id);
      await client.query(INSERT, row);
      await client.query(UPDATE, head);
      await client.query('commit');
      client.release();
      return sealed;
    },
  };
}

const app = express().disable('x-powered-by').disable('etag');
const send = (find) => async (request, response) => {
  const sealed = await find(request.params.slug);
  response.type('application/octet-stream').send(Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength));
};
app.get('/read/:slug', send(read));
app.get('/audited/:slug', send(audited));

const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`ready at http://127.0.0.1:${server.address().port}\n`);
});
