// The upper bound of the query benchmark: the server's own GraphQL endpoint, log and headers, without resolvers and
// store. The results are read once from a file and passed to the engine as the root value.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import express from 'express';
import { buildSchema, execute } from 'graphql';

import { requestBounds } from '@trellis/server/http/admission';
import { createGraphqlEndpoint } from '@trellis/server/graphql/endpoint';
import { createHttpServer } from '@trellis/server/http/server';
import { createLog } from '@trellis/server/http/request';
import { getRequestContext, requestContext } from '@trellis/server/http/request';

const answers = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const typeDefs = readFileSync(new URL('../../dist/generated/site/schema.graphql', import.meta.url), 'utf8');
const log = createLog({ level: 'info' });
const endpoint = createGraphqlEndpoint({
  schema: buildSchema(typeDefs),
  createContext: () => ({}),
  report: (defect) => log.error(defect),
  execute: (args) => execute({ ...args, rootValue: answers[args.document.definitions[0].name?.value] }),
});

const app = express().disable('x-powered-by');
app.use(requestContext({ log }), requestBounds());
app.all('/graphql', (request, response) => {
  const context = getRequestContext(response);
  context.operation = 'graphql';
  endpoint(request, response, context.requestId);
});

const server = createHttpServer(app, { log });
server.listen(0, '127.0.0.1', () => process.stderr.write(`ready at http://127.0.0.1:${server.address().port}\n`));
