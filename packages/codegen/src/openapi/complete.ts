/** Fills in the parts of a contract that are often omitted, such as names of operations, summaries, tags and servers. */
import { didYouMean } from '../documents.js';
import { camel } from '../output.js';
import { METHODS } from './contract.js';
import { listObjects } from './grammar.js';
import {
  child,
  type ContractSources,
  type DocumentNode,
  entries,
  findTextField,
  follow,
  has,
  isRecord,
  items,
  recordItems,
  type ReportDiagnostic,
} from './nodes.js';
import { listParameterNames } from './paths.js';

/** OpenAPI ignores header parameters with these names, as other parts of a document describe them. */
const RESERVED_HEADERS = ['accept', 'authorization', 'content-type'];

/** Removes the parameters that have no effect. The others keep the places at which they are written. */
function dropReservedHeaders(sources: ContractSources, parent: DocumentNode, report: ReportDiagnostic): void {
  const parameters = items(child(parent, 'parameters'));
  const kept = parameters.filter((mention) => {
    const place = follow(sources, mention);
    const name = (place && findTextField(place, 'name')) ?? '';
    if (place === undefined || child(place, 'in').value !== 'header') return true;
    if (!RESERVED_HEADERS.includes(name.toLowerCase())) return true;
    report.warn(child(place, 'name'), `The parameter "${name}" has no effect: the server reads this header itself.`);
    return false;
  });
  if (kept.length === parameters.length) return;
  (parent.value as Record<string, unknown>).parameters = kept.map(({ value }) => value);
  recordItems(child(parent, 'parameters'), kept);
}

/** Completes a contract, with a warning for each value that had to be derived. Changes the value of the document. */
export function completeContract(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  if (!isRecord(root.value)) return;
  if (has(root, 'webhooks')) root.value.paths ??= {};
  completeServers(root, root.value, report);
  const tags = new Set(items(child(root, 'tags')).flatMap((tag) => findTextField(tag, 'name') ?? []));
  const declared = tags.size;
  const ids = new Set<unknown>(listOwnIds(root));
  const names = new Map<unknown, unknown>();
  for (const [path, item] of entries(child(root, 'paths'))) {
    if (path.startsWith('x-')) Reflect.deleteProperty(child(root, 'paths').value as object, path);
    dropReservedHeaders(sources, item, report);
    for (const method of METHODS) {
      const place = child(item, method);
      if (!isRecord(place.value)) continue;
      dropReservedHeaders(sources, place, report);
      const operation = { method, path, place, value: place.value };
      const written = findTextField(place, 'operationId');
      completeId(operation, ids, report);
      if (written !== undefined) names.set(written, operation.value.operationId);
      ids.add(operation.value.operationId);
      completeSummary(operation, report);
      completePathParameters(sources, operation, item, report);
      completeTags(operation, tags, report);
      completeResponses(operation, report);
      if (!has(place, 'security') && !has(root, 'security'))
        report.warn(
          place,
          'The operation has no security, so anyone may call it. Use [] for a public operation.',
          'key',
        );
    }
  }
  completeLinks(sources, names);
  const derived = [...tags].slice(declared).map((name) => ({ name }));
  const own = Array.isArray(root.value.tags) ? (root.value.tags as unknown[]) : [];
  if (derived.length > 0) root.value.tags = [...own, ...derived];
}

/** Writes the ids of operations in links as the operations have them now. */
function completeLinks(sources: ContractSources, names: ReadonlyMap<unknown, unknown>): void {
  for (const { place, name } of [...sources.values()].flatMap((source) => listObjects(source))) {
    if (name !== 'link' || !isRecord(place.value)) continue;
    const { operationId } = place.value;
    if (names.has(operationId)) place.value.operationId = names.get(operationId);
  }
}

interface NewOperation {
  readonly method: string;
  readonly path: string;
  readonly place: DocumentNode;
  readonly value: Record<string, unknown>;
}

function completeServers(root: DocumentNode, value: Record<string, unknown>, report: ReportDiagnostic): void {
  for (const server of items(child(root, 'servers'))) completeVariables(server, report);
  if (!has(root, 'paths') || (has(root, 'servers') && items(child(root, 'servers')).length > 0)) return;
  report.warn(
    has(root, 'servers') ? child(root, 'servers') : child(root, 'info'),
    'The contract has no servers; its base path is /.',
    'key',
  );
  value.servers = [{ url: '/' }];
}

/** Declares the variables of a server that it does not, unless it declares one that may be meant. */
function completeVariables(server: DocumentNode, report: ReportDiagnostic): void {
  const url = findTextField(server, 'url') ?? '';
  const known = entries(child(server, 'variables')).map(([name]) => name);
  const used = [...url.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);
  for (const name of used.filter((text) => !known.includes(text))) {
    const others = known.filter((text) => !used.includes(text));
    const message = `The server variable "${name}" is not declared.`;
    if (others.length > 0) report(child(server, 'url'), message + didYouMean(name, others));
    if (others.length > 0 || !isRecord(server.value)) continue;
    report.warn(child(server, 'url'), `${message} Its value is its name.`);
    server.value.variables = { ...(child(server, 'variables').value as object | undefined), [name]: { default: name } };
  }
}

const IS_NAME = /^[a-z][A-Za-z0-9]*$/;

/** Lists the ids of operations that keep them. */
const listOwnIds = (root: DocumentNode): string[] =>
  entries(child(root, 'paths')).flatMap(([, item]) =>
    METHODS.map((method) => findTextField(child(item, method), 'operationId') ?? '').filter((id) => IS_NAME.test(id)),
  );

function toFreeId(base: string, taken: ReadonlySet<unknown>): string {
  let count = 1;
  while (taken.has(count === 1 ? base : `${base}${count}`)) count += 1;
  return count === 1 ? base : `${base}${count}`;
}

function completeId(
  { method, path, place, value }: NewOperation,
  taken: ReadonlySet<unknown>,
  report: ReportDiagnostic,
): void {
  const id = value.operationId;
  if (id === undefined) {
    const name = toFreeId(deriveId(method, path), taken);
    value.operationId = name;
    report.warn(place, `The operation has no operationId; its handler is ${name}.`, 'key');
    return;
  }
  if (typeof id !== 'string' || IS_NAME.test(id)) return;
  const base = camel(toAscii(id));
  if (!IS_NAME.test(base)) return;
  const name = toFreeId(base, taken);
  value.operationId = name;
  report.warn(
    child(place, 'operationId'),
    `The operationId "${id}" is not a camelCase name such as listTokens; its handler is ${name}.`,
  );
}

/** Returns a name such as `getPetsByPetId` for `get /pets/{petId}`. */
function deriveId(method: string, path: string): string {
  return camel(toAscii(`${method} ${path.replace(/\{([^{}]*)\}/g, ' by $1 ').replace(/([A-Z])/g, ' $1')}`));
}

/** Names of operations have letters of ASCII only. */
const toAscii = (text: string): string => text.replaceAll(/[^ -~]+/gu, ' ');

function completeSummary({ method, path, place, value }: NewOperation, report: ReportDiagnostic): void {
  if (value.summary !== undefined && value.summary !== null) return;
  const [sentence = ''] = (findTextField(place, 'description') ?? '').trim().split(/\n|(?<=\.)\s/);
  value.summary = sentence === '' ? `${method.toUpperCase()} ${path}` : sentence.replace(/\.$/, '');
  report.warn(place, 'The operation has no summary.', 'key');
}

/** Since OpenAPI 3.1, an operation need not have responses. */
function completeResponses({ place, value }: NewOperation, report: ReportDiagnostic): void {
  const isEmpty = isRecord(value.responses) && Object.keys(value.responses).length === 0;
  if (value.responses !== undefined && !isEmpty) return;
  value.responses = { default: { description: 'The contract does not describe the responses.' } };
  report.warn(place, 'The operation has no responses, so its handler can send any status, without a body.', 'key');
}

/** Declares the parameters of a path that the operation does not, unless it declares one that may be meant. */
function completePathParameters(
  sources: ContractSources,
  { path, place, value }: NewOperation,
  item: DocumentNode,
  report: ReportDiagnostic,
): void {
  const written = [item, place].flatMap((parent) => items(child(parent, 'parameters')));
  const followed = written.map((mention) => follow(sources, mention));
  const declared = followed.flatMap((parameter) =>
    parameter && child(parameter, 'in').value === 'path' ? [findTextField(parameter, 'name') ?? ''] : [],
  );
  const names = listParameterNames(path);
  if (followed.includes(undefined) || !declared.every((name) => names.includes(name))) return;
  for (const name of names.filter((text) => !declared.includes(text))) {
    const parameter = { name, in: 'path', required: true, schema: { type: 'string' } };
    value.parameters = [...(Array.isArray(value.parameters) ? (value.parameters as unknown[]) : []), parameter];
    report.warn(place, `The operation does not declare the path parameter "${name}", which is text.`, 'key');
  }
}

function completeTags({ path, place, value }: NewOperation, tags: Set<string>, report: ReportDiagnostic): void {
  const own = value.tags;
  if (own === undefined || (Array.isArray(own) && own.length === 0)) {
    const name = path.split('/').find((segment) => /^[A-Za-z]\w*$/.test(segment)) ?? 'default';
    const known = [...tags].find((tag) => tag.toLowerCase() === name.toLowerCase()) ?? name;
    value.tags = [known];
    tags.add(known);
    report.warn(place, `The operation has no tag; its handler is in the group "${known}".`, 'key');
    return;
  }
  for (const tag of items(child(place, 'tags'))) {
    if (typeof tag.value !== 'string' || tags.has(tag.value)) continue;
    report.warn(tag, `Expected one of the contract's tags; received "${tag.value}".${didYouMean(tag.value, tags)}`);
    tags.add(tag.value);
  }
}
