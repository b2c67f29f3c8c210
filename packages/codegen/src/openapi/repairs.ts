/**
 * Removes parts of contracts that are mistakes and cannot have the effect that their authors expect. Each is a warning
 * with the outcome, so that the clients of such contracts can be generated.
 */
import { handlersName } from '../output.js';
import { fitsTypes, listTypes, RANGES } from './checks/schemas.js';
import { METHODS } from './contract.js';
import { findJsonType, MULTIPART, parseMediaType, readTextValue, typesOf, URLENCODED } from './forms.js';
import { listObjects, type ObjectName, OPENAPI_GRAMMAR } from './grammar.js';
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
  recordMove,
  type ReportDiagnostic,
} from './nodes.js';
import { isUnicodePattern } from './patterns.js';

/** An object of a contract, and its value, which repairs change. */
interface Repaired {
  readonly sources: ContractSources;
  readonly place: DocumentNode;
  readonly value: Record<string, unknown>;
  readonly report: ReportDiagnostic;
}

type Repair = (object: Repaired) => void;

/** Removes mistakes from all documents of a contract. Changes their values. */
export function repairContract(sources: ContractSources, root: DocumentNode, report: ReportDiagnostic): void {
  mergeTags(root, report);
  for (const source of sources.values()) {
    for (const { place, name } of listObjects(source)) {
      if (!isRecord(place.value)) continue;
      const object = { sources, place, value: place.value, report };
      dropNullTexts(object);
      if (name !== 'schema' && OPENAPI_GRAMMAR[name].section !== undefined && has(place, '$ref'))
        dropBesideReference(object);
      else for (const repair of REPAIRS[name] ?? []) repair(object);
    }
  }
}

/** Tags that differ in case or punctuation only would have handlers with the same name. */
function mergeTags(root: DocumentNode, report: ReportDiagnostic): void {
  const known = new Map<string, string>();
  const renamed = new Map<unknown, string>();
  const kept = items(child(root, 'tags')).filter((tag) => {
    const name = findTextField(tag, 'name');
    if (name === undefined) return true;
    const first = known.get(handlersName(name));
    known.set(handlersName(name), first ?? name);
    if (first === undefined || first === name) return true;
    renamed.set(name, first);
    report.warn(
      child(tag, 'name'),
      `The operations of the tag "${name}" are in the group "${first}", as their names are alike.`,
    );
    return false;
  });
  if (renamed.size === 0) return;
  (root.value as Record<string, unknown>).tags = kept.map(({ value }) => value);
  recordItems(child(root, 'tags'), kept);
  for (const [, item] of entries(child(root, 'paths'))) {
    for (const method of METHODS) {
      const { value } = child(item, method);
      if (isRecord(value) && Array.isArray(value.tags))
        value.tags = value.tags.map((tag) => renamed.get(tag) ?? (tag as unknown));
    }
  }
}

function dropNullTexts({ place, value, report }: Repaired): void {
  for (const key of ['description', 'summary', 'title']) {
    if (value[key] !== null || !has(place, key)) continue;
    report.warn(child(place, key), `Expected ${key} to be text; received nothing. It is ignored.`, 'key');
    Reflect.deleteProperty(value, key);
  }
}

/** OpenAPI allows fields beside a reference in schemas only, and in others a description and a summary. */
function dropBesideReference({ place, value, report }: Repaired): void {
  for (const [key, part] of entries(place)) {
    if (['$ref', 'description', 'summary'].includes(key)) continue;
    if (!key.startsWith('x-')) report.warn(part, `"${key}" has no effect beside $ref.`, 'key');
    Reflect.deleteProperty(value, key);
  }
}

/** Some write `required: true` in a property, as in drafts before 4, instead of its name in the list of the object. */
function dropBooleanRequired({ place, value, report }: Repaired): void {
  if (typeof value.required !== 'boolean') return;
  report.warn(
    child(place, 'required'),
    '"required" has no effect in a property: the object lists its required properties.',
    'key',
  );
  delete value.required;
}

function dropPattern({ place, value, report }: Repaired): void {
  if (typeof value.pattern !== 'string' || isUnicodePattern(value.pattern)) return;
  const pattern = JSON.stringify(value.pattern);
  report.warn(
    child(place, 'pattern'),
    `The pattern ${pattern} is not checked, as it is not a regular expression of JavaScript.`,
  );
  delete value.pattern;
}

function dropRanges({ place, value, report }: Repaired): void {
  for (const [low, high] of RANGES) {
    const [from, to] = [value[low], value[high]];
    if (typeof from !== 'number' || typeof to !== 'number' || from <= to) continue;
    report.warn(
      child(place, low),
      `Expected ${low} to be at most ${high}, ${to}; received ${from}. Neither is checked.`,
    );
    Reflect.deleteProperty(value, low);
    Reflect.deleteProperty(value, high);
  }
}

/** Writes the values of an enum in the type of its schema, and removes those that the type does not allow. */
function fixEnum({ place, value, report }: Repaired): void {
  const types = listTypes(place);
  if (types === undefined || !Array.isArray(value.enum)) return;
  const kept = items(child(place, 'enum')).flatMap((item) => {
    if (fitsTypes(types, item.value)) return [item];
    const converted = convertScalar(types, item.value);
    const message = `Expected a value of type ${types.join(' or ')}; received ${JSON.stringify(item.value)}.`;
    if (converted === undefined) report.warn(item, `${message} It is ignored.`);
    else report.warn(item, `${message} It is read as ${JSON.stringify(converted)}.`);
    return converted === undefined ? [] : [{ path: item.path, source: item.source, value: converted }];
  });
  const written = items(child(place, 'enum'));
  if (kept.every(({ value: one }, index) => one === written[index]?.value) && kept.length === written.length) return;
  const unique = kept.filter((item, index) => kept.findIndex((other) => other.value === item.value) === index);
  if (unique.length === 0) {
    delete value.enum;
    return;
  }
  value.enum = unique.map((item) => item.value);
  recordItems(child(place, 'enum'), unique);
}

/** Returns a scalar as the only type that a schema allows, such as a text for a number that lacks its quotes. */
function convertScalar(types: readonly unknown[], value: unknown): unknown {
  if (types.includes('string')) return ['boolean', 'number'].includes(typeof value) ? String(value) : undefined;
  const isNumeric = typeof value === 'string' && String(Number(value)) === value;
  return isNumeric && fitsTypes(types, Number(value)) ? Number(value) : undefined;
}

/** A parameter in a path is always required. */
function requirePathParameter({ place, value, report }: Repaired): void {
  if (value.in !== 'path' || value.required === true) return;
  const name = findTextField(place, 'name') ?? '';
  const at = has(place, 'required') ? child(place, 'required') : place;
  report.warn(
    at,
    `The path parameter "${name}" is required, as every parameter in a path.`,
    has(place, 'required') ? 'value' : 'key',
  );
  value.required = true;
}

/** OpenAPI has no text for lists of objects and nested objects, except in JSON. */
function writeAsJson({ sources, place, value, report }: Repaired): void {
  if (!isRecord(value.schema) || has(place, 'content') || value.style === 'deepObject') return;
  const schema = child(place, 'schema');
  const problems: DocumentNode[] = [];
  readTextValue(sources, schema, (part) => problems.push(part));
  if (problems.length === 0) return;
  const name = findTextField(place, 'name') ?? '';
  const message = `No style can write all values of the parameter "${name}", such as objects in lists, so it is JSON.`;
  report.warn(schema, message, 'key');
  value.content = { 'application/json': { schema: schema.value } };
  for (const field of ['schema', 'style', 'explode', 'allowReserved']) Reflect.deleteProperty(value, field);
  recordMove(child(child(child(place, 'content'), 'application/json'), 'schema'), schema);
}

/** Neither validators nor types could distinguish media types that differ in their parameters only. */
function dropContent({ place, report }: Repaired): void {
  const content = child(place, 'content');
  const known = new Map<string, string>();
  for (const [type, media] of entries(content)) {
    const { essence = '' } = parseMediaType(type) ?? {};
    const same = known.get(essence);
    if (essence !== '' && same === undefined) known.set(essence, type);
    if (type.includes('/') && same === undefined) continue;
    const message = same
      ? `The media types "${same}" and "${type}" differ in their parameters only. The second one is ignored.`
      : `Expected a media type such as application/json; received "${type}". It is ignored.`;
    report.warn(media, message, 'key');
    Reflect.deleteProperty(content.value as object, type);
  }
}

/** Forms are objects, and other texts are strings. */
function fixBodySchema({ sources, place, report }: Repaired): void {
  for (const [type, media] of entries(child(place, 'content'))) {
    if (!isRecord(media.value) || has(place, 'x-body')) continue;
    const expected = findBodyType(type);
    const schema = has(media, 'schema') ? follow(sources, child(media, 'schema')) : undefined;
    const types = schema === undefined ? [] : typesOf(schema);
    if (expected === undefined || types.every((one) => one === expected)) continue;
    const message = `Expected the type ${expected} for the body ${type}; received ${types.join(', ')}. The schema is ignored.`;
    report.warn(child(media, 'schema'), message);
    media.value.schema = { type: expected };
  }
}

function findBodyType(type: string): 'object' | 'string' | undefined {
  const { essence = '' } = parseMediaType(type) ?? {};
  if (essence === URLENCODED || essence === MULTIPART) return 'object';
  return essence.startsWith('text/') && findJsonType(type) === undefined ? 'string' : undefined;
}

/** A part of a form has a content type. Its style, which OpenAPI 3.0 ignores, would replace it in OpenAPI 3.1. */
function dropPartStyles({ place, report }: Repaired): void {
  for (const [type, media] of entries(child(place, 'content'))) {
    if (parseMediaType(type)?.essence !== MULTIPART) continue;
    for (const [, encoding] of entries(child(media, 'encoding'))) {
      for (const field of ['style', 'explode', 'allowReserved'].filter((key) => has(encoding, key))) {
        report.warn(
          child(encoding, field),
          `"${field}" is ignored for a part of ${MULTIPART}, which has a contentType.`,
          'key',
        );
        Reflect.deleteProperty(encoding.value as object, field);
      }
    }
  }
}

/** `fetch` does not send such a body, and many servers ignore it. */
function dropBody({ place, report }: Repaired): void {
  for (const method of ['get', 'head']) {
    const operation = child(place, method);
    if (!has(operation, 'requestBody')) continue;
    const message = `The body of a ${method} operation is ignored, as clients cannot send it. Use query parameters, or post.`;
    report.warn(child(operation, 'requestBody'), message, 'key');
    Reflect.deleteProperty(operation.value as object, 'requestBody');
  }
}

/** Responses with these statuses have no body. */
const IS_BARE = /^(?:1..|204|205|304)$/;

function dropBareContent({ sources, place, report }: Repaired): void {
  const responses = child(place, 'responses');
  for (const [status, mention] of entries(responses)) {
    const response = IS_BARE.test(status) ? follow(sources, mention) : undefined;
    if (response === undefined || !has(response, 'content')) continue;
    const message = `A response with the status ${status} has no body, so its content is ignored.`;
    report.warn(has(mention, '$ref') ? mention : child(response, 'content'), message, 'key');
    const { content: _, ...others } = response.value as Record<string, unknown>;
    // References in another document are relative to it.
    const isOwn = response.source.file === mention.source.file;
    (responses.value as Record<string, unknown>)[status] = isOwn ? others : { description: others.description };
  }
}

function describeResponse({ place, value, report }: Repaired): void {
  if (has(place, 'description')) return;
  report.warn(place, 'The response has no description.', 'key');
  value.description = '';
}

/** The examples of a schema are a list; those of a parameter or a media type are named. */
function dropExamples({ place, value, report }: Repaired): void {
  if (!isRecord(value.examples)) return;
  report.warn(child(place, 'examples'), 'Expected examples to be a list; received a mapping. They are ignored.', 'key');
  delete value.examples;
}

/** YAML reads `version: 1.0` as a number. */
function quote(key: string): Repair {
  return ({ place, value, report }) => {
    if (typeof value[key] !== 'number' && typeof value[key] !== 'boolean') return;
    const text = String(value[key]);
    report.warn(child(place, key), `Expected ${key} to be text; received ${text}. It is read as "${text}".`);
    value[key] = text;
  };
}

const REPAIRS: Readonly<Partial<Record<ObjectName, readonly Repair[]>>> = {
  info: [quote('version')],
  operation: [dropBareContent],
  parameter: [requirePathParameter, writeAsJson],
  pathItem: [dropBody],
  requestBody: [dropContent, fixBodySchema, dropPartStyles],
  response: [describeResponse, dropContent],
  schema: [dropBooleanRequired, dropExamples, dropPattern, dropRanges, fixEnum],
  serverVariable: [quote('default')],
  webhook: [dropBody],
};
