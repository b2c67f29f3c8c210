import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { ContractDocument } from '../contract.js';
import { type Direction, directionOf, hasDirections, listRequestSchemas, toDirection } from '../directions.js';
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
import { createAjv, stripAnnotations } from '../validators.js';

/** An example or default in a document, and the schema that it must match. */
interface Sample {
  readonly word: string;
  readonly value: DocumentNode;
  readonly schema: DocumentNode;
  readonly direction: Direction;
}

/** Checks every example and default against its schema. */
export function checkExamples(
  roots: Iterable<DocumentNode>,
  document: ContractDocument,
  report: ReportDiagnostic,
): void {
  const compile = createCompiler(document);
  const requested = listRequestSchemas(document);
  for (const root of roots) {
    for (const { word, value, schema, direction } of listSamples(root)) {
      const validate = compile(schema, direction);
      // Validators remove properties that are ignored in requests.
      if (validate === undefined || validate(structuredClone(value.value))) continue;
      const [error] = validate.errors ?? [];
      if (error === undefined) continue;
      // A wrong default would reach handlers; a wrong example, or a default in a response, misleads readers only.
      const tell = word === 'default' && mayReachHandlers(value, requested) ? report : report.warn;
      tell(toInvalidPart(value, error), describe(word, error));
    }
  }
}

/** Returns whether requests contain a place. @param requested The names of the schemas that they use. */
function mayReachHandlers(place: DocumentNode, requested: ReadonlySet<string>): boolean {
  const [section, kind, name = ''] = place.path;
  const isSchema = section === 'components' && kind === 'schemas';
  return isSchema ? requested.has(name) : directionOf(place) !== 'response';
}

type Compile = (schema: DocumentNode, direction: Direction) => ValidateFunction | undefined;

/** Returns a cached compiler, which yields `undefined` for invalid schemas: other checks report those. */
function createCompiler(document: ContractDocument): Compile {
  // Most of these functions run once, so optimizing their code would take longer than it saves, and so would copying the
  // code of a schema to all that refer to it.
  const ajv = createAjv(document, { code: { optimize: false }, inlineRefs: false });
  const schemas = document.components?.schemas ?? {};
  const isDirected = hasDirections(document);
  const convert = (schema: unknown, direction: Direction): unknown =>
    stripAnnotations(isDirected ? toDirection(schema, direction, schemas) : schema, { defaults: false });
  const directions: readonly Direction[] = isDirected ? ['any', 'request', 'response'] : ['any'];
  for (const direction of directions) {
    const converted = Object.entries(schemas).map(([name, schema]) => [name, convert(schema, direction)]);
    ajv.addSchema({ $id: direction, components: { schemas: Object.fromEntries(converted) as object } });
  }
  /** The text of a schema → its validator. */
  const known = new Map<string, ValidateFunction | undefined>();
  return (place, asked) => {
    const direction = directions.includes(asked) ? asked : 'any';
    const schema = toShort(place, schemas) ?? convert(place.value, direction);
    const text = JSON.stringify(pointInto(direction, schema, place.source.file));
    if (!known.has(text)) known.set(text, tryToCompile(ajv, JSON.parse(text)));
    return known.get(text);
  };
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

/** Returns a reference to a schema that has a name. */
function toShort({ path: [section, kind, name = '', ...below] }: DocumentNode, schemas: object): object | undefined {
  const isNamed = section === 'components' && kind === 'schemas' && below.length === 0 && Object.hasOwn(schemas, name);
  return isNamed ? { $ref: `#/components/schemas/${name}` } : undefined;
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
      return `to be one of ${allowedValues?.join(', ') ?? ''}`;
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
