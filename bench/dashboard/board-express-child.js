// The upper bound of the dashboard benchmark: Express with one route that has the bytes of the board and their ETag
// ready. It has no sign-in, rate limits, check for changes or log.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import express from 'express';

const board = readFileSync(process.argv[2]);
const etag = process.argv[3];

const app = express().disable('x-powered-by');
app.get('/api/version', (_request, response) => response.json({ version: 'bare' }));
app.get('/api/dashboard', (request, response) => {
  response.setHeader('ETag', etag);
  if (request.headers['if-none-match'] === etag) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', board.length);
  response.end(board);
});
// The usual way: the JSON and its ETag are computed for each response.
const parsed = JSON.parse(board.toString());
app.get('/api/dashboard/json', (_request, response) => response.json(parsed));

const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`ready at http://127.0.0.1:${server.address().port}\n`);
});
