import type { Exchange } from './row.js';

/** Returns the exchange of a GraphQL query that has no errors. `data` are members that the result must have. */
export const ask = (query: string, data: object, variables?: object): Exchange => ({
  ...post(query, variables),
  status: 200,
  response: { data },
});

/** Returns the exchange of a GraphQL query that has an error with a code. */
export const refuse = (query: string, code: string, message: string, variables?: object): Exchange => ({
  ...post(query, variables),
  status: 200,
  response: { errors: [{ message, extensions: { code } }] },
});

const post = (query: string, variables?: object): Pick<Exchange, 'body' | 'headers' | 'request'> => ({
  request: 'POST /graphql',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ query, variables }),
});
