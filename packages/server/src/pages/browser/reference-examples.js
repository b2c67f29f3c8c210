/** @import { ReferenceContract, ContractClient, ContractOperation, JsonSchema } from './globals.d.ts' */

/** The nesting of an example body; deeper values are left out. */
const MAX_DEPTH = 8;

/**
 * Returns the object that a reference points to.
 *
 * @template {object} Value
 * @param {ReferenceContract} contract
 * @param {Value | { readonly $ref: string }} value
 * @returns {Value}
 */
function follow(contract, value) {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return /** @type {Value} */ (value);
  const keys = value.$ref.slice(2).split('/');
  const found = keys.reduce((place, key) => /** @type {any} */ (place)[key], /** @type {unknown} */ (contract));
  return follow(contract, /** @type {Value} */ (found));
}

/** Texts for formats that a pattern or a parser checks. */
const FORMATS = { 'date-time': '2030-01-01T00:00:00Z', uri: 'https://example.com', email: 'ada@example.com' };

/**
 * Returns a value of a schema: its example, or else the smallest value with all required properties.
 *
 * @param {ReferenceContract} contract
 * @param {JsonSchema | { readonly $ref: string }} reference
 * @returns {unknown}
 */
function toSample(contract, reference, depth = 0) {
  const schema = follow(contract, reference);
  const given = schema.example ?? schema.examples?.[0] ?? schema.default ?? schema.const ?? schema.enum?.[0];
  if (given !== undefined) return given;
  const [first] = schema.oneOf ?? schema.anyOf ?? [];
  if (first) return toSample(contract, first, depth);
  const [type] = [schema.type ?? 'object'].flat();
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => toSample(contract, part, depth)));
  if (type === 'array')
    return schema.items && (schema.minItems ?? 1) > 0 ? [toSample(contract, schema.items, depth + 1)] : [];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type === 'string') return FORMATS[/** @type {keyof typeof FORMATS} */ (schema.format)] ?? 'text';
  if (depth > MAX_DEPTH) return {};
  const names = schema.required ?? [];
  return Object.fromEntries(
    names.map((name) => [name, toSample(contract, schema.properties?.[name] ?? {}, depth + 1)]),
  );
}

/**
 * Returns the required parameters and the body of an operation, with example values.
 *
 * @param {ReferenceContract} contract
 * @param {string} path
 * @param {ContractOperation} operation
 */
function toArguments(contract, path, operation) {
  const declared = [...(contract.paths[path]?.parameters ?? []), ...(operation.parameters ?? [])];
  const parameters = declared
    .map((one) => follow(contract, one))
    .filter(({ required }) => required)
    .map(({ name, in: place, schema = {}, example }) => ({
      ...{ name, place, value: example ?? toSample(contract, schema) },
    }));
  const content = operation.requestBody ? follow(contract, operation.requestBody).content : {};
  const [type, media] = Object.entries(content)[0] ?? [];
  const sample = media && (media.example ?? Object.values(media.examples ?? {})[0]?.value);
  const body = media && (sample ?? toSample(contract, media.schema ?? {}));
  const { type: kind, properties, additionalProperties } = media ? follow(contract, media.schema ?? {}) : {};
  // A delivery of a webhook, whose sender chooses the properties: the client has no type for them.
  const isOpen = kind === 'object' && properties === undefined && additionalProperties === undefined;
  return { parameters, body, type, isOpen };
}

/**
 * Returns the address below which the paths of a contract are.
 *
 * @param {string} origin
 * @param {ReferenceContract} contract
 */
const toBase = (origin, { servers }) => origin + (servers?.[0]?.url ?? '').replace(/\/$/, '');

/** @param {unknown} value */
const toText = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * Returns a command that calls an operation in a POSIX shell.
 *
 * @param {string} origin
 * @param {ReferenceContract} contract
 * @param {string} path
 * @param {string} method
 */
function toCommand(origin, contract, path, method) {
  const operation = contract.paths[path]?.[method];
  if (operation === undefined) return '';
  const { parameters, body, type } = toArguments(contract, path, operation);
  /** @param {string} place */
  const at = (place) => parameters.filter((one) => one.place === place);
  const query = new URLSearchParams(at('query').map(({ name, value }) => [name, toText(value)]));
  const filled = at('path').reduce(
    (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(toText(value))),
    toBase(origin, contract) + path,
  );
  /** @param {string} text */
  const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const needsToken = (operation.security ?? contract.security ?? []).some((one) => Object.keys(one).length > 0);
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${quote(filled + (query.size > 0 ? `?${query.toString()}` : ''))}`,
    ...at('header').map(({ name, value }) => `-H ${quote(`${name}: ${toText(value)}`)}`),
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(type === undefined ? [] : [`-H ${quote(`Content-Type: ${type}`)}`, `--data-raw ${quote(toText(body))}`]),
  ].join(' \\\n  ');
}

/**
 * Returns a module in TypeScript that calls an operation with the generated client; an empty text if the client can't.
 *
 * @param {string} origin
 * @param {ContractClient} client
 * @param {ReferenceContract} contract
 * @param {string} path
 * @param {string} method
 */
function toClientCall(origin, client, contract, path, method) {
  const operation = contract.paths[path]?.[method];
  if (operation?.operationId === undefined) return '';
  const { operationId, responses = {} } = operation;
  const { parameters, body, isOpen } = toArguments(contract, path, operation);
  if (isOpen) return '';
  const given = Object.fromEntries(parameters.map(({ name, value }) => [name, value]));
  const values = { ...given, ...(body === undefined ? {} : { body }) };
  const isEmpty = Object.keys(values).length === 0;
  const call = `${operationId}(client${isEmpty ? '' : `, ${JSON.stringify(values, undefined, 2)}`})`;
  const isStream = Object.values(responses).some((one) => 'text/event-stream' in (follow(contract, one).content ?? {}));
  return [
    `import { ${client.create} } from '${client.from}';`,
    `import { ${operationId} } from '${client.calls}';`,
    ``,
    `const client = ${client.create}('${toBase(origin, contract)}');`,
    isStream ? `for await (const event of ${call}) console.log(event);` : `console.log(await ${call});`,
    ``,
  ].join('\n');
}

globalThis.operationExamples = { toCommand, toClientCall };
