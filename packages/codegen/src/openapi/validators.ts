import addFormats from 'ajv-formats';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { _Code } from 'ajv/dist/compile/codegen/code.js';
import { _, type Name } from 'ajv/dist/compile/codegen/index.js';
import { type UsedScopeValues, UsedValueState, type ValueScopeName } from 'ajv/dist/compile/codegen/scope.js';
import { compileSchema, resolveSchema, SchemaEnv } from 'ajv/dist/compile/index.js';
import fastUri from 'ajv/dist/runtime/uri.js';
import type { AnyValidateFunction, SourceCode } from 'ajv/dist/types/index.js';
import { camel, pascal, printModules, toIdentifier } from '../output.js';
import type { Contract, Operation, SchemaKeywords, SchemaObject, StatusKey } from './contract.js';
import { ABSENT } from './directions.js';
import { isRecord } from './nodes.js';
import { measureChains } from './references.js';

/**
 * Writes `validators.js`: a module of compiled ajv functions, which imports only ajv's runtime helpers.
 *
 * @param operationModule The module of the server with these helpers: the ajv that a project finds may be missing or an older one.
 */
export function writeValidators(
  { schemas }: Contract,
  { schemas: named }: ValidatorNames,
  operationModule: string,
): string {
  const ajv = createAjv([schemas, named], {
    // Optimized code is 10 % shorter, and takes twice as long to write.
    code: { source: true, esm: true, lines: true, optimize: false, process: withoutBody },
    useDefaults: true,
    // Only the code of short schemas is copied to all that refer to them.
    inlineRefs: 3,
  });
  const rules: Rules = {
    dropped: new Set(ANNOTATIONS),
    areIntegersSafe: true,
    mayChange: createChangeTest(schemas),
  };
  const directions = {
    limits: pickSizeLimits,
    request: (schema: unknown) => keepRules(liftDefaults(schema, schemas), rules),
    requestTest: (schema: unknown) => keepRules(schema, TEST_RULES),
    response: (schema: unknown) => stripAnnotations(schema, { defaults: false }),
  } as const;
  for (const direction of DIRECTIONS) {
    // Whole references, as ajv copies short schemas elsewhere: it overlooks references of a property called "type".
    const members = mapMembers(schemas, (schema) => pointInto(direction, directions[direction](schema)));
    ajv.addSchema({ $id: direction, components: { schemas: members } });
  }
  if (haveLongChains(schemas)) {
    const names = Object.keys(schemas);
    separate(
      ajv,
      DIRECTIONS.flatMap((direction) => names.map((name) => `${direction}#/components/schemas/${name}`)),
    );
  }
  for (const { name, direction, schema } of named) {
    const rules = pointInto(direction, directions[direction](schema));
    ajv.addSchema({ $id: `function-${name}`, ...(typeof rules === 'object' ? rules : { allOf: [rules] }) });
  }
  return toModule(printFunctions(ajv, named), operationModule);
}

/**
 * Prints compiled functions and everything that they use, as ajv's `standalone` does. Texts take the place of its lists of
 * words, which it copies for every function, and cannot pass to a call when there are too many.
 */
function printFunctions(ajv: Ajv2020, named: readonly NamedSchema[]): string {
  const used: UsedScopeValues = {};
  /** The schemas whose functions are printed after the one that refers to them, as chains of them may be long. */
  const due: SchemaEnv[] = [];
  const exported = named.map(({ name }) => {
    const source = ajv.getSchema(`function-${name}`)?.source;
    const texts = [`export const ${name} = ${String(source?.validateName)};`, print(source)];
    for (let next = due.pop(); next !== undefined; next = due.pop()) {
      if (next.validateName && stateOf(next.validateName) === undefined) texts.push(print(next.validate?.source));
    }
    return texts.join('\n');
  });
  return exported.join('\n');

  function print(source: SourceCode | undefined): string {
    if (source === undefined) throw new Error('ajv has compiled no code.');
    const { validateName, validateCode, scopeValues, evaluated } = source;
    if (stateOf(validateName) === UsedValueState.Completed) return '';
    (used[validateName.prefix] ??= new Map()).set(validateName, UsedValueState.Started);
    const scope = ajv.scope.scopeCode(scopeValues, used, printUsed);
    const more = evaluated === undefined ? '' : `${String(validateName)}.evaluated = ${String(evaluated)};\n`;
    return `${String(scope)}\n${validateCode}${more}`;
  }

  function printUsed(name: ValueScopeName): _Code | undefined {
    const { prefix, value } = name;
    const ref: unknown = value?.ref;
    if (prefix === 'validate' && typeof ref === 'function')
      return new _Code(print((ref as AnyValidateFunction).source));
    if (!['root', 'wrapper'].includes(prefix) || typeof ref !== 'object' || ref === null) return undefined;
    const schema = ref as SchemaEnv;
    if (schema.validate === undefined) compileSchema.call(ajv, schema);
    const { validateName } = schema;
    if (validateName === undefined) throw new Error('ajv has compiled no code.');
    due.push(schema);
    return new _Code(`const ${String(name)} = {validate: ${String(validateName)}};`);
  }

  function stateOf(name: Name & { readonly prefix?: string }): UsedValueState | undefined {
    return used[name.prefix ?? '']?.get(name as ValueScopeName);
  }
}

const DIRECTIONS = ['limits', 'request', 'requestTest', 'response'] as const;

/** The length of a chain of references that ajv may follow. The stack ends at about 200. */
const MAX_FOLLOWED = 50;

const haveLongChains = (schemas: Contract['schemas']): boolean =>
  [...measureChains(Object.keys(schemas), (name) => listReferences(schemas[name])).values()].some(
    (length) => length > MAX_FOLLOWED,
  );

const listReferences = (schema: unknown): readonly string[] =>
  [...JSON.stringify(schema ?? {}).matchAll(REFERENCE)].map(([, name = '']) => name);

/**
 * Lets ajv compile each of some schemas on its own. By default, it compiles the schemas that a schema refers to while it
 * compiles that schema, and those that they refer to. Here it treats them as it treats a schema that refers to itself: it
 * refers to their functions, which are compiled when they are printed.
 */
function separate(ajv: Ajv2020, references: readonly string[]): void {
  const root = new SchemaEnv({ schema: {}, schemaId: '$id' });
  for (const reference of references) {
    const found = resolveSchema.call(ajv, root, reference);
    if (found === undefined) continue;
    ajv.refs[reference] = found;
    found.root.refs[reference] = found;
  }
}

const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

/** Only the text of a validator is used, so the engine need not read it. Each has to be a function of its own. */
const withoutBody = (): string => 'return () => true';

/** Writes `validators.d.ts`: the declarations of the exports of {@link writeValidators}. */
export function writeValidatorTypes({ schemas }: ValidatorNames, operationModule: string): string {
  const lines = schemas.map(({ name }) => `export const ${name}: Validator;\n`);
  return `${printModules('import', [[operationModule, 'type Validator']])}\n${lines.join('')}`;
}

function mapMembers(members: object, map: (member: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, map(member)]));
}

/** Copies defaults from referenced schemas to the references, as ajv ignores defaults behind a `$ref`. */
function liftDefaults(schema: unknown, schemas: Contract['schemas']): unknown {
  if (Array.isArray(schema)) return schema.map((item) => liftDefaults(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = mapParts(schema, (part) => liftDefaults(part, schemas));
  const known = findDefault(schema as SchemaObject, schemas);
  return { ...own, ...(known === undefined ? {} : { default: known }) };
}

function findDefault(schema: SchemaObject | undefined, schemas: Contract['schemas']): unknown {
  if (typeof schema !== 'object') return undefined;
  const { $ref, default: own } = schema;
  if (own !== undefined || typeof $ref !== 'string') return own;
  return findDefault(schemas[$ref.split('/').at(-1) ?? ''], schemas);
}

function pointInto(direction: NamedSchema['direction'] | 'requestTest', schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => pointInto(direction, item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = mapParts(schema, (part) => pointInto(direction, part)) as SchemaKeywords;
  return copy.$ref?.startsWith('#') === true ? { ...copy, $ref: `${direction}${copy.$ref}` } : copy;
}

/** Copies a schema with its nested schemas mapped. Values, such as those of `enum`, stay as they are. */
function mapParts(schema: object, map: (part: unknown) => unknown): object {
  return Object.fromEntries(
    Object.entries(schema).map(([key, part]: [string, unknown]) => {
      if (VALUES.has(key)) return [key, part];
      return [key, NAMED.has(key) && isRecord(part) ? mapMembers(part, map) : map(part)];
    }),
  );
}

/** Converts the `require` calls for ajv's runtime helpers to imports, which ajv's ESM output lacks. */
function toModule(code: string, operationModule: string): string {
  const helpers = new Map<string, string>();
  const body = code.replace(/require\("(?:[^"]+\/)?([^"/]+)"\)/g, (_, helper: string) => {
    const name = helpers.get(helper) ?? `runtime${helpers.size}`;
    helpers.set(helper, name);
    return name;
  });
  const imported = [...helpers].map(([helper, name]) => `${helper} as ${name}`);
  const imports = imported.length === 0 ? '' : `import { ${imported.join(', ')} } from '${operationModule}';\n`;
  return `${imports}\n${body.trimEnd()}\n`;
}

/** The names of the exported functions of `validators.js`. */
export interface ValidatorNames {
  /** `createToken body` → `createTokenBody`. The parts are params, query, headers, cookies, body and limits (of the body). */
  readonly requests: ReadonlyMap<string, string>;
  /** `createToken 201` → `createdTokenSchema`. Responses with the same schema share a function. */
  readonly responses: ReadonlyMap<string, string>;
  readonly schemas: readonly NamedSchema[];
}

interface NamedSchema {
  readonly name: string;
  /** `request` fills in defaults, `response` changes nothing, and `limits` validates only types and sizes. */
  readonly direction: 'limits' | 'request' | 'response';
  readonly schema: SchemaObject;
}

const PARTS = { path: 'params', query: 'query', header: 'headers', cookie: 'cookies' } as const;

/** Returns the names and schemas of the validators that a contract needs. */
export function nameValidators({ operations }: Contract): ValidatorNames {
  const requests = new Map<string, string>();
  const responses = new Map<string, string>();
  const schemas = new Map<string, NamedSchema>();
  for (const operation of operations) {
    for (const [part, schema] of listRequestSchemas(operation)) {
      const name = `${operation.id}${pascal(part)}`;
      requests.set(`${operation.id} ${part}`, name);
      schemas.set(name, { name, direction: part === 'limits' ? 'limits' : 'request', schema });
    }
    for (const { status, contents } of operation.responses) {
      const schema = contents.find(({ kind }) => kind === 'json' || kind === 'events')?.schema;
      if (schema === undefined) continue;
      const name = toFreeName(nameResponse(operation.id, status, schema), schema, schemas);
      responses.set(`${operation.id} ${status}`, name);
      schemas.set(name, { name, direction: 'response', schema });
    }
  }
  return { requests, responses, schemas: [...schemas.values()] };
}

/** Schemas such as `Item` and `item` have the same name in camel case. */
function toFreeName(name: string, schema: SchemaObject, known: ReadonlyMap<string, NamedSchema>, count = 1): string {
  const own = count === 1 ? name : `${name}${count}`;
  const other = known.get(own);
  if (other === undefined || JSON.stringify(other.schema) === JSON.stringify(schema)) return own;
  return toFreeName(name, schema, known, count + 1);
}

function nameResponse(id: string, status: StatusKey, schema: SchemaObject): string {
  const ref = typeof schema === 'object' && Object.keys(schema).length === 1 ? schema.$ref : undefined;
  if (ref === undefined) return `${id}Response${pascal(status)}`;
  return toIdentifier(`${camel(ref.split('/').at(-1) ?? '')}Schema`);
}

function listRequestSchemas({ parameters, body, responses }: Operation): [part: string, schema: SchemaObject][] {
  const found: [string, SchemaObject][] = (['path', 'query', 'header', 'cookie'] as const).flatMap((place) => {
    const members = parameters.filter((parameter) => parameter.in === place);
    if (members.length === 0) return [];
    const properties = Object.fromEntries(members.map(({ name, schema }) => [name, schema]));
    const required = members.filter((parameter) => parameter.required).map(({ name }) => name);
    return [[PARTS[place], { type: 'object', properties, required }]];
  });
  if (body === undefined || body.isDeferred) return found;
  const validated = body.contents.flatMap(({ essence, kind, schema }) =>
    schema === undefined || kind === 'bytes' ? [] : [{ essence, kind, schema }],
  );
  for (const { essence, schema } of validated) {
    found.push([body.contents.length === 1 && !essence.includes('*') ? 'body' : `body ${essence}`, schema]);
  }
  const [only, ...others] = body.contents;
  const json = only?.kind === 'json' && others.length === 0 ? only.schema : undefined;
  // If an operation distinguishes 400 from 422, size limits are validated before the rest of the body.
  const hasLimits = ['400', '422'].every((status) => responses.some((response) => response.status === status));
  return json !== undefined && hasLimits ? [...found, ['limits', json]] : found;
}

/** Lets a schema have an empty enum, as JSON Schema does: it allows no value. */
function allowEmptyEnums(ajv: Ajv2020): void {
  const definition = ajv.getKeyword('enum');
  if (typeof definition !== 'object' || !('code' in definition)) throw new Error('ajv has no enum.');
  const { code } = definition;
  definition.code = (context) => {
    const values: unknown = context.schema;
    if (Array.isArray(values) && values.length === 0) context.fail();
    else code(context);
  };
}

/** Compares with the nearest multiple in whole units of the last decimal, as 19.99 / 0.01 is not quite 1999. */
function countInDecimals(ajv: Ajv2020): void {
  const definition = ajv.getKeyword('multipleOf');
  if (typeof definition !== 'object' || !('code' in definition)) throw new Error('ajv has no multipleOf.');
  definition.code = (context) => {
    const step = Number(context.schema);
    const factor = 10 ** countDecimals(step);
    context.fail(
      _`Math.round(${context.data} / ${step}) * ${Math.round(step * factor)} / ${factor} !== ${context.data}`,
    );
  };
}

/** Returns the number of decimals of a number, at most 100. */
function countDecimals(value: number): number {
  let count = 0;
  while (count < 100 && Number(value.toFixed(count)) !== value) count += 1;
  return count;
}

/** Names that every object inherits. */
const INHERITED = /"(?:constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf)"/;

/**
 * Creates an ajv instance for OpenAPI 3.1 schemas. Keywords and formats are checked by `check-structure.ts`.
 *
 * @param schemas All schemas that it will compile.
 */
export function createAjv(schemas: unknown, options: Options = {}): Ajv2020 {
  const text = JSON.stringify(schemas);
  const ownProperties = INHERITED.test(text);
  const uriResolver = createUriResolver();
  const settings = { strict: false, validateSchema: false, logger: false, ownProperties, uriResolver } as const;
  const ajv = new Ajv2020({ ...settings, ...options });
  // Without these keywords, code that records the properties seen is of no use. Contracts cannot have $dynamicRef.
  Object.assign(ajv.opts, { dynamicRef: false, unevaluated: text.includes('"unevaluated') });
  addFormats.default(ajv);
  allowEmptyEnums(ajv);
  countInDecimals(ajv);
  // A property that is ignored in its direction is removed.
  ajv.addKeyword({
    keyword: ABSENT,
    modifying: true,
    code: ({ gen, it }) => gen.code(_`delete ${it.parentData}[${it.parentDataProperty}]`),
  });
  return ajv;
}

/** Resolves references with a cache, as ajv parses each many times. */
function createUriResolver() {
  const uris = fastUri.default;
  const resolveFrom = remember((base: string) => remember((reference: string) => uris.resolve(base, reference)));
  return {
    parse: remember((uri: string) => uris.parse(uri)),
    resolve: (base: string, reference: string): string => resolveFrom(base)(reference),
    serialize: remember((parts: Parameters<typeof uris.serialize>[0]) => uris.serialize(parts)),
  };
}

function remember<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = compute(key);
    known.set(key, value);
    return value;
  };
}

/** Keywords that document a schema and do not affect validation. */
const ANNOTATIONS = [
  '$comment',
  '$schema',
  'deprecated',
  'description',
  'example',
  'examples',
  'externalDocs',
  'title',
  'xml',
];

interface KeptRules {
  readonly defaults: boolean;
  /** Adds bounds to integers without bounds: JavaScript rounds integers beyond them. */
  readonly areIntegersSafe?: boolean;
}

/** Returns a schema without annotations and extensions, and without defaults unless they are to be filled in. */
export function stripAnnotations(schema: unknown, { defaults, areIntegersSafe = false }: KeptRules): unknown {
  return keepRules(schema, { dropped: new Set(defaults ? ANNOTATIONS : [...ANNOTATIONS, 'default']), areIntegersSafe });
}

/** Returns the bounds of an integer that has none. */
function boundInteger({ type, ...others }: SchemaKeywords): SchemaKeywords {
  const types: readonly unknown[] = [type].flat();
  if (!types.includes('integer') || types.includes('number')) return {};
  const hasRange = (...keywords: string[]) => ['const', 'enum', ...keywords].some((keyword) => keyword in others);
  return {
    ...(!hasRange('minimum', 'exclusiveMinimum') && { minimum: Number.MIN_SAFE_INTEGER }),
    ...(!hasRange('maximum', 'exclusiveMaximum') && { maximum: Number.MAX_SAFE_INTEGER }),
  };
}

/** Keywords that limit the size of a value, and those that lead to nested schemas. */
const LIMITS = ['$ref', 'allOf', 'items', 'maxItems', 'maxLength', 'maximum', 'properties', 'type'];

/** Returns the part of a schema that limits sizes. Missing members and malformed values pass it. */
function pickSizeLimits(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(pickSizeLimits);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => LIMITS.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]: [string, unknown]) => {
      if (keyword !== 'properties' || typeof value !== 'object' || value === null)
        return [keyword, pickSizeLimits(value)];
      return [
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, member]) => [name, pickSizeLimits(member)])),
      ];
    }),
  );
}

/** Keywords whose members have names chosen by the contract's author: a property may be called "title". */
const NAMED = new Set(['dependentRequired', 'dependentSchemas', 'patternProperties', 'properties', 'schemas']);
/** Keywords that contain values, not schemas. */
const VALUES = new Set(['const', 'default', 'enum']);

interface Rules {
  readonly dropped: ReadonlySet<string>;
  readonly areIntegersSafe: boolean;
  /** Whether a validator of a schema may change the value: fill in a default, or remove a property. */
  readonly mayChange?: (schema: unknown) => boolean;
}

/** The rules that a value is only compared with. */
const TEST_RULES: Rules = { dropped: new Set([...ANNOTATIONS, 'default', ABSENT]), areIntegersSafe: true };

function keepRules(schema: unknown, rules: Rules): unknown {
  if (Array.isArray(schema)) return schema.map((item) => keepRules(item, rules));
  if (typeof schema !== 'object' || schema === null) return schema;
  const chosen = applyDiscriminator(schema as SchemaKeywords);
  const bounded = rules.areIntegersSafe ? { ...boundInteger(chosen), ...chosen } : chosen;
  const kept = Object.entries(bounded).filter(([keyword]) => !rules.dropped.has(keyword) && !keyword.startsWith('x-'));
  const result = Object.fromEntries(
    kept.map(([keyword, value]: [string, unknown]) => {
      if (VALUES.has(keyword)) return [keyword, value];
      return [keyword, NAMED.has(keyword) ? keepMembers(value, rules) : keepRules(value, rules)];
    }),
  ) as SchemaKeywords;
  return rules.mayChange === undefined ? result : separateTests(bounded, result, rules.mayChange);
}

/** Keywords with schemas that a value need not match. */
const TESTS = ['contains', 'if', 'not'] as const;

/**
 * Makes validators compare a value with alternatives before they change it: only those that match may fill in their
 * defaults, or remove their properties.
 */
function separateTests(
  source: SchemaKeywords,
  kept: SchemaKeywords,
  mayChange: (schema: unknown) => boolean,
): SchemaKeywords {
  const toTest = (schema: unknown): unknown => pointInto('requestTest', keepRules(schema, TEST_RULES));
  const tests = TESTS.filter((word) => word in kept && mayChange(source[word]));
  const changed = tests.map((word) => [word, toTest(source[word])]);
  const choices: unknown[] = [];
  for (const word of ['anyOf', 'oneOf'] as const) {
    const alternatives: unknown = source[word];
    if (!Array.isArray(alternatives) || !mayChange(alternatives)) continue;
    const tested = alternatives.map(toTest);
    const changing = kept[word] as unknown[];
    changed.push([word, tested]);
    choices.push(...tested.map((test, index) => ({ if: test, then: changing[index] })));
  }
  const allOf = choices.length === 0 ? {} : { allOf: [...((kept.allOf ?? []) as unknown[]), ...choices] };
  return { ...kept, ...(Object.fromEntries(changed) as SchemaKeywords), ...allOf };
}

/** Returns a test of schemas for defaults and for properties that are absent in requests, there or behind references. */
function createChangeTest(schemas: Contract['schemas']): (schema: unknown) => boolean {
  const changesItself = (schema: unknown): boolean => {
    const text = JSON.stringify(schema ?? {});
    return text.includes('"default":') || text.includes(`"${ABSENT}":true`);
  };
  const referrers = new Map<string, string[]>();
  for (const [name, schema] of Object.entries(schemas)) {
    for (const target of listReferences(schema)) {
      const names = referrers.get(target) ?? [];
      names.push(name);
      referrers.set(target, names);
    }
  }
  const changing = new Set(Object.keys(schemas).filter((name) => changesItself(schemas[name])));
  // The set grows while it is read.
  for (const name of changing) for (const referrer of referrers.get(name) ?? []) changing.add(referrer);
  return (schema) => changesItself(schema) || listReferences(schema).some((name) => changing.has(name));
}

/**
 * Replaces the alternatives of a discriminator by one condition for each value of its property. Therefore a value is
 * compared with its own alternative only: errors and defaults of the others do not reach it.
 */
function applyDiscriminator({ discriminator, ...schema }: SchemaKeywords): SchemaKeywords {
  const word = 'oneOf' in schema ? 'oneOf' : 'anyOf';
  const { [word]: alternatives, allOf = [], ...others } = schema;
  // Other checks report values of the wrong types.
  if (typeof discriminator !== 'object' || discriminator === null) return schema;
  if (!Array.isArray(alternatives) || !alternatives.every(isRecord)) return schema;
  const { propertyName } = discriminator as Discriminator;
  const demand = (values: readonly string[]): SchemaKeywords => ({
    type: 'object',
    required: [propertyName],
    properties: { [propertyName]: { enum: values } },
  });
  const chosen = listAlternatives(discriminator as Discriminator, alternatives);
  const choice = [
    demand(chosen.flatMap(({ values }) => values)),
    ...chosen.map(({ alternative, values }) => ({ if: demand(values), then: alternative })),
  ];
  const rest = (alternatives as SchemaKeywords[]).filter(({ $ref }) => $ref === undefined);
  if (chosen.length === 0) return schema;
  if (rest.length > 0) return { ...schema, [word]: [{ allOf: choice }, ...rest] };
  return { ...others, allOf: [...(allOf as unknown[]), ...choice] };
}

interface Alternative {
  readonly alternative: SchemaKeywords;
  /** The values of the property that select it. */
  readonly values: readonly string[];
}

/** Lists the alternatives of a discriminator that have a name. */
function listAlternatives({ mapping }: Discriminator, alternatives: readonly SchemaKeywords[]): readonly Alternative[] {
  const mapped = Object.entries(mapping ?? {}).map(([value, target]) => [toLastName(target), value] as const);
  return alternatives.flatMap((alternative) => {
    if (typeof alternative.$ref !== 'string') return [];
    const name = toLastName(alternative.$ref);
    const values = mapped.filter(([target]) => target === name).map(([, value]) => value);
    return [{ alternative, values: values.length > 0 ? values : [name] }];
  });
}

interface Discriminator {
  readonly propertyName: string;
  readonly mapping?: Readonly<Record<string, string>>;
}

const toLastName = (ref: unknown): string => String(ref).split('/').at(-1) ?? '';

function keepMembers(members: unknown, rules: Rules): unknown {
  if (typeof members !== 'object' || members === null) return members;
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, keepRules(schema, rules)]));
}
