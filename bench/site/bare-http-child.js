// The upper bound of the benchmark of repeated queries: `node:http` alone, with one response to everything.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';

const body = readFileSync(process.argv[2]);
const encoding = process.argv[3];
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': body.length,
  ...(encoding && { 'Content-Encoding': encoding }),
};

const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
server.listen(0, '127.0.0.1', () => process.stderr.write(`ready at http://127.0.0.1:${server.address().port}\n`));
