/** @import { ExplorerRequest } from './globals.d.ts' */

/**
 * Returns the address that opens a query in a new tab of the explorer. Headers stay out of it, as they may contain tokens.
 *
 * @param {ExplorerRequest} request
 */
const toLink = ({ url, query, variables }) => {
  const parts = new URLSearchParams({ query, ...(variables === undefined ? {} : { variables }) });
  return `${url}#${parts.toString()}`;
};

/**
 * Returns a command that sends a request in a POSIX shell.
 *
 * @param {ExplorerRequest} request
 */
const toCurl = ({ url, query, variables, headers }) => {
  /** @param {string} text */
  const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const body = JSON.stringify({ query, variables: variables === undefined ? undefined : JSON.parse(variables) });
  const fields = Object.entries({ 'Content-Type': 'application/json', ...headers });
  return [
    `curl ${quote(url)}`,
    ...fields.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(body)}`,
  ].join(' \\\n  ');
};

/**
 * Returns a module in TypeScript that sends a request.
 *
 * @param {ExplorerRequest} request
 */
const toTypeScript = ({ url, query, variables, headers }) => {
  const text = query.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`);
  const fields = JSON.stringify({ 'Content-Type': 'application/json', ...headers });
  const rest = variables === undefined ? '' : `, variables: ${JSON.stringify(JSON.parse(variables))}`;
  return [
    `const query = \`${text}\`;`,
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: 'POST',`,
    `  headers: ${fields},`,
    `  body: JSON.stringify({ query${rest} }),`,
    `});`,
    `const { data, errors } = (await response.json()) as {`,
    `  data?: unknown;`,
    `  errors?: readonly { message: string }[];`,
    `};`,
    `if (errors) throw new Error(errors[0]?.message);`,
    `console.log(data);`,
    ``,
  ].join('\n');
};

/** The forms in which a request can be copied. */
globalThis.requestFormats = [
  { label: 'Copy link', said: 'Link copied.', format: toLink },
  { label: 'Copy as curl', said: 'Copied as curl.', format: toCurl },
  { label: 'Copy as TypeScript', said: 'Copied as TypeScript.', format: toTypeScript },
];
