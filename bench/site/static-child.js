// The upper bound of serving images: Express with static files and nothing else.
import process from 'node:process';
import express from 'express';

const server = express()
  .disable('x-powered-by')
  .use(express.static(process.argv[2], { immutable: true, maxAge: '1y' }))
  .get('/graphql', (_request, response) => void response.json({ data: {} }))
  .post('/graphql', (_request, response) => void response.json({ data: {} }))
  .listen(0, '127.0.0.1', () => process.stderr.write(`ready at http://127.0.0.1:${server.address().port}\n`));
