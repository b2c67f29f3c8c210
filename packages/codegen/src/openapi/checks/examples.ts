import type { ErrorObject, ValidateFunction } from 'ajv';
import { formatNames } from 'ajv-formats/dist/formats.js';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { ContractDocument } from '../contract.js';
import { type Direction, directionOf, hasDirections, toDirection } from '../directions.js';
import {
  child,
  type DocumentNode,
  entries,
  has,
  isRecord,
  items,
  parseReference,
  type ReportDiagnostic,
} from '../nodes.js';
import { interpret, type InterpretedSchema } from '../third-party.js';
import { createAjv, stripAnnotations } from '../validators.js';

/** An example or default in a document, and the schema that it must match. */
interface Sample {
  readonly word: string;
  readonly value: DocumentNode;
  readonly schema: DocumentNode;
  readonly direction: Direction;
}

/**
 * Checks every example and default against its schema. Removes the defaults of schemas that do not match, as handlers
 * would receive them. Returns their number.
 */
export function checkExamples(
  roots: Iterable<DocumentNode>,
  document: ContractDocument,
  report: ReportDiagnostic,
): number {
  const findError = createExampleCheck(document);
  let dropped = 0;
  for (const root of roots) {
    for (const { word, value, schema, direction } of listSamples(root)) {
      const error = findError(value.value, schema, direction);
      if (error === undefined) continue;
      const at = toInvalidPart(value, error);
      const message = describe(word, error);
      if (word === 'example') report.warn(at, message);
      // The base path of the server depends on such a default.
      else if (isServerVariable(schema)) report(at, message);
      else if (isRecord(schema.value)) {
        report.warn(at, `${message} It is ignored.`);
        delete schema.value.default;
        dropped += 1;
      }
    }
  }
  return dropped;
}

const isServerVariable = ({ path }: DocumentNode): boolean => path[0] === 'servers' && path.at(-2) === 'variables';

/** Returns the first error of a value; `undefined` too for invalid schemas, which other checks report. */
type FindError = (value: unknown, schema: DocumentNode, direction: Direction) => ErrorObject | undefined;

/**
 * Creates a check of values. Schemas are interpreted first, as compiling one takes longer than checking its examples, and
 * most examples match. Compiled functions name the errors of the others.
 */
function createExampleCheck(document: ContractDocument): FindError {
  const schemas = document.components?.schemas ?? {};
  const isDirected = hasDirections(document);
  const directions: readonly Direction[] = isDirected ? ['any', 'request', 'response'] : ['any'];
  const convert = (schema: unknown, direction: Direction, file: string): unknown => {
    const directed = isDirected ? toDirection(schema, direction, schemas) : schema;
    return pointInto(direction, stripAnnotations(directed, { defaults: false }), file);
  };
  const named = directions.flatMap((direction) =>
    Object.entries(schemas).map(
      ([name, schema]) => [`${direction}#/components/schemas/${name}`, convert(schema, direction, '')] as const,
    ),
  );
  const compile = createCompiler(document, named);
  const matches = createInterpreter(document, Object.fromEntries(named) as Record<string, InterpretedSchema | boolean>);
  return (value, place, asked) => {
    const direction = directions.includes(asked) ? asked : 'any';
    const name = toName(place, schemas);
    const schema =
      name === undefined
        ? convert(place.value, direction, place.source.file)
        : { $ref: `${direction}#/components/schemas/${name}` };
    if (!isRecord(schema) || matches(value, schema)) return undefined;
    return findFirstError(compile(schema), value);
  };
}

function findFirstError(validate: ValidateFunction | undefined, value: unknown): ErrorObject | undefined {
  try {
    // Validators remove properties that are ignored in requests.
    return validate === undefined || validate(structuredClone(value)) ? undefined : validate.errors?.[0];
  } catch (error) {
    // A schema that applies itself without end has an error of its own.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The formats that the interpreter does not know. It ignores them, and all formats of numbers. */
const UNKNOWN_FORMATS = formatNames.filter((name) => /^(?:byte|iso-|json-pointer-uri)/.test(name));
const NUMBER_FORMAT = /"format":"int(?:32|64)"/;
/** A number with a fraction, or beyond nine digits. */
const ODD_NUMBER = /[:[,]-?\d+[.eE]|[:[,]-?\d{10}/;

type Matches = (value: unknown, schema: InterpretedSchema) => boolean;

/** Returns a test of values that is certain of those that match only. */
function createInterpreter(document: ContractDocument, lookup: Record<string, InterpretedSchema | boolean>): Matches {
  const text = JSON.stringify(document);
  const hasUnknown = UNKNOWN_FORMATS.some((name) => text.includes(`"format":"${name}"`));
  const hasNumberFormats = NUMBER_FORMAT.test(text);
  return (value, schema) => {
    if (hasUnknown || (hasNumberFormats && ODD_NUMBER.test(JSON.stringify([value])))) return false;
    try {
      return interpret(value, schema, '2020-12', lookup).valid;
    } catch {
      return false;
    }
  };
}

type Compile = (schema: object) => ValidateFunction | undefined;

/** Returns a cached compiler, which yields `undefined` for invalid schemas: other checks report those. */
function createCompiler(
  document: ContractDocument,
  named: readonly (readonly [id: string, schema: unknown])[],
): Compile {
  let ajv: Ajv2020 | undefined;
  /** The text of a schema → its validator. */
  const known = new Map<string, ValidateFunction | undefined>();
  return (schema) => {
    ajv ??= createExampleAjv(document, named);
    const text = JSON.stringify(schema);
    if (!known.has(text)) known.set(text, tryToCompile(ajv, JSON.parse(text)));
    return known.get(text);
  };
}

function createExampleAjv(document: ContractDocument, named: readonly (readonly [string, unknown])[]): Ajv2020 {
  // Most of these functions run once, so optimizing their code would take longer than it saves, and so would copying the
  // code of a schema to all that refer to it.
  const ajv = createAjv(document, { code: { optimize: false }, inlineRefs: false });
  const roots = new Map<string, Record<string, unknown>>();
  for (const [id, schema] of named) {
    const [root = '', pointer = ''] = id.split('#');
    const members = roots.get(root) ?? {};
    members[pointer.slice('/components/schemas/'.length)] = schema;
    roots.set(root, members);
  }
  for (const [$id, members] of roots) ajv.addSchema({ $id, components: { schemas: members } });
  return ajv;
}

function tryToCompile(ajv: Ajv2020, schema: unknown): ValidateFunction | undefined {
  try {
    if (!isRecord(schema)) return undefined;
    const { $ref, ...others } = schema;
    const isName = typeof $ref === 'string' && Object.keys(others).length === 0;
    return isName ? ajv.getSchema($ref) : ajv.compile(schema);
  } catch {
    return undefined;
  }
}

/** Returns the name of a schema that is a component. */
function toName({ path: [section, kind, name = '', ...below] }: DocumentNode, schemas: object): string | undefined {
  const isNamed = section === 'components' && kind === 'schemas' && below.length === 0 && Object.hasOwn(schemas, name);
  return isNamed ? name : undefined;
}

function pointInto(direction: Direction, schema: unknown, file: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => pointInto(direction, item, file));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const reference = key === '$ref' && typeof value === 'string' ? parseReference(file, value) : undefined;
      if (reference === undefined) return [key, pointInto(direction, value, file)];
      return [key, `${direction}#/components/${reference.section}/${reference.name}`];
    }),
  );
}

/** Keywords that contain values, not parts of the contract. */
const VALUES = ['const', 'default', 'enum', 'example', 'examples'];
/** Mappings whose keys are chosen by the contract's author: a property may be called "default". */
const NAMED = ['headers', 'parameters', 'patternProperties', 'properties', 'schemas'];

/** Lists the examples and defaults below a place, each with the schema that it belongs to. */
function listSamples(place: DocumentNode): Sample[] {
  if (Array.isArray(place.value)) return items(place).flatMap(listSamples);
  const own = isSchemaHolder(place) ? listHolderSamples(place) : listSchemaSamples(place);
  const parts = entries(place).filter(([key]) => !VALUES.includes(key));
  return [
    ...own,
    ...parts.flatMap(([key, part]) => (NAMED.includes(key) ? listMemberSamples(part) : listSamples(part))),
  ];
}

function listMemberSamples(place: DocumentNode): Sample[] {
  return [...items(place), ...entries(place).map(([, member]) => member)].flatMap(listSamples);
}

/** Returns whether the place has a schema beside its examples, as parameters, headers and media types do. */
function isSchemaHolder(place: DocumentNode): boolean {
  return has(place, 'schema') && isRecord(child(place, 'schema').value);
}

function listHolderSamples(place: DocumentNode): Sample[] {
  const [schema, direction] = [child(place, 'schema'), directionOf(place)];
  const single = has(place, 'example') ? [{ word: 'example', value: child(place, 'example'), schema, direction }] : [];
  const named = entries(child(place, 'examples')).filter(([, example]) => has(example, 'value'));
  return [
    ...single,
    ...named.map(([, example]) => ({ word: 'example', value: child(example, 'value'), schema, direction })),
  ];
}

function listSchemaSamples(schema: DocumentNode): Sample[] {
  // The example of a schema may have all its properties.
  const direction: Direction = 'any';
  const single = ['default', 'example'].filter((word) => has(schema, word));
  return [
    ...single.map((word) => ({ word, value: child(schema, word), schema, direction })),
    ...items(child(schema, 'examples')).map((value) => ({ word: 'example', value, schema, direction })),
  ];
}

/** Returns the part of the value that does not match. */
function toInvalidPart(value: DocumentNode, { instancePath }: ErrorObject): DocumentNode {
  return instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(child, value);
}

function describe(word: string, error: ErrorObject): string {
  const part = error.instancePath === '' ? `the ${word}` : `${error.instancePath} of the ${word}`;
  return `Expected ${part} ${toExpectation(error)}, according to its schema.`;
}

/** Rephrases an ajv error and adds the names and values that its message omits. */
function toExpectation({ keyword, params, message = 'must match its schema' }: ErrorObject): string {
  const { allowedValue, allowedValues, missingProperty, additionalProperty, unevaluatedProperty } = params as Params;
  switch (keyword) {
    case 'const':
      return `to be ${JSON.stringify(allowedValue)}`;
    case 'enum':
      return allowedValues?.length === 0 ? 'to be absent' : `to be one of ${allowedValues?.join(', ') ?? ''}`;
    case 'required':
      return `to have "${missingProperty ?? ''}"`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `not to have "${additionalProperty ?? unevaluatedProperty ?? ''}"`;
    default:
      return message.replace(/^must NOT/, 'not to').replace(/^must/, 'to');
  }
}

interface Params {
  readonly allowedValue?: unknown;
  readonly allowedValues?: readonly unknown[];
  readonly missingProperty?: string;
  readonly additionalProperty?: string;
  readonly unevaluatedProperty?: string;
}
