/**
 * The REST APIs that forges publish: GitHub's OpenAPI documents, and the declarations that others generate from the
 * documents of Gitea and Forgejo. Each answer of a test forge and each request to it is compared with them.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { installTool } from '../../tools/install.js';

/** A JSON Schema of OpenAPI 3.0, as far as the documents use it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface PublishedOperation {
  readonly isDeprecated: boolean;
  /** The schemas of the query parameters. */
  readonly query: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  /** The schema of a response with the status; `undefined` if the document has none. */
  readonly responseOf: (status: number) => Schema | undefined;
  /** Whether the document lists the statuses of the operation, so that others are errors of the test forge. */
  readonly statuses?: ReadonlySet<number>;
}

export interface PublishedApi {
  readonly name: string;
  readonly find: (method: string, template: string) => PublishedOperation | undefined;
  readonly resolve: (schema: Schema) => Schema;
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Parameter {
  readonly $ref?: string;
  readonly in?: string;
  readonly name?: string;
  readonly schema?: Schema;
}

interface OpenapiOperation {
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media & { readonly $ref?: string }>>;
}

interface OpenapiDocument {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenapiOperation>>>>;
}

const JSON_TYPE = 'application/json';

/** Reads an OpenAPI document of GitHub, such as `api.github.com` or `ghes-3.17`. */
export function readGithubApi(document: string): PublishedApi {
  installTool('tools/github-description');
  const file = `tools/github-description/node_modules/@octokit/openapi/generated/${document}.json`;
  const root = JSON.parse(readFileSync(file, 'utf8')) as OpenapiDocument;
  const resolve = <T extends { readonly $ref?: string }>(value: T): T => {
    if (value.$ref === undefined) return value;
    const keys = value.$ref.slice(2).split('/');
    return resolve(keys.reduce<unknown>((one, key) => (one as Record<string, unknown>)[key], root) as T);
  };
  return {
    name: `${document} ${root.info.version}`,
    resolve,
    find(method, template) {
      const operation = root.paths[template]?.[method.toLowerCase()];
      if (operation === undefined) return undefined;
      const parameters = (operation.parameters ?? []).map(resolve).filter((one) => one.in === 'query');
      const found = Object.entries(operation.responses).map(([status, one]) => [Number(status), resolve(one)] as const);
      const responses = new Map(found);
      return {
        isDeprecated: operation.deprecated === true,
        query: Object.fromEntries(parameters.map(({ name = '', schema = {} }) => [name, schema])),
        body: operation.requestBody?.content?.[JSON_TYPE]?.schema,
        responseOf: (status) => responses.get(status)?.content?.[JSON_TYPE]?.schema,
        statuses: new Set(responses.keys()),
      };
    },
  };
}

/** Reads the declarations of a client that `swagger-typescript-api` generated: `gitea-js` or `forgejo-js`. */
export function readDeclaredApi(client: 'forgejo-js' | 'gitea-js'): PublishedApi {
  installTool('tools/witnesses');
  const file = `tools/witnesses/node_modules/${client}/dist/index.d.ts`;
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const types = new Map<string, Schema>();
  const operations = new Map<string, PublishedOperation>();
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node)) types.set(node.name.text, toObject(node.members));
    else if (ts.isTypeAliasDeclaration(node)) types.set(node.name.text, toSchema(node.type));
    else if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)) addOperation(operations, node);
    if (!ts.isInterfaceDeclaration(node)) ts.forEachChild(node, visit);
  };
  visit(source);
  const [, version = ''] = /@version (\S+)/.exec(text) ?? [];
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(types.get(schema.$ref) ?? {});
  return {
    name: `${client === 'gitea-js' ? 'Gitea' : 'Forgejo'} ${version}`,
    resolve,
    find: (method, template) => operations.get(`${method} ${template.replaceAll(/\{\w+\}/g, '{}')}`),
  };
}

/** Adds a method with its path in the tag `@request`. */
function addOperation(
  operations: Map<string, PublishedOperation>,
  node: ts.PropertyDeclaration | ts.PropertySignature,
): void {
  const tags = ts.getJSDocTags(node);
  const request = tags.find(({ tagName }) => tagName.text === 'request');
  const [, method, path] = /^(\w+):(\S+)/.exec(String(request?.comment ?? '')) ?? [];
  if (method === undefined || path === undefined || node.type === undefined || !ts.isFunctionTypeNode(node.type))
    return;
  const typeOf = (name: string): ts.TypeNode | undefined =>
    (node.type as ts.FunctionTypeNode).parameters.find((one) => one.name.getText() === name)?.type;
  const [query, body] = [typeOf('query'), typeOf('body')];
  const answer = (node.type.type as ts.TypeReferenceNode).typeArguments?.[0] as ts.TypeReferenceNode | undefined;
  const result = answer?.typeArguments?.[0];
  operations.set(`${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`, {
    isDeprecated: tags.some(({ tagName }) => tagName.text === 'deprecated'),
    query: query === undefined ? {} : (toSchema(query).properties ?? {}),
    ...(body !== undefined && { body: toSchema(body) }),
    responseOf: (status) => (status < 300 && result !== undefined ? toSchema(result) : undefined),
  });
}

function toObject(members: ts.NodeArray<ts.TypeElement>): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const member of members) {
    if (!ts.isPropertySignature(member) || member.type === undefined) continue;
    const name = member.name.getText().replaceAll(/['"]/g, '');
    // Go omits or nulls absent values, which the documents do not say.
    properties[name] = { ...toSchema(member.type), nullable: true };
    if (member.questionToken === undefined) required.push(name);
  }
  const index = members.find((member) => ts.isIndexSignatureDeclaration(member));
  const more = index === undefined ? {} : { additionalProperties: toSchema(index.type) };
  return { type: 'object', properties, required, ...more };
}

const KEYWORDS: Partial<Record<ts.SyntaxKind, Schema>> = {
  [ts.SyntaxKind.StringKeyword]: { type: 'string' },
  [ts.SyntaxKind.NumberKeyword]: { type: 'number' },
  [ts.SyntaxKind.BooleanKeyword]: { type: 'boolean' },
};

function toSchema(type: ts.TypeNode): Schema {
  if (ts.isArrayTypeNode(type)) return { type: 'array', items: toSchema(type.elementType) };
  if (ts.isParenthesizedTypeNode(type)) return toSchema(type.type);
  if (ts.isTypeLiteralNode(type)) return toObject(type.members);
  if (ts.isUnionTypeNode(type)) return { anyOf: type.types.map(toSchema) };
  if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return { enum: [type.literal.text] };
  if (ts.isTypeReferenceNode(type)) {
    const [argument, value] = type.typeArguments ?? [];
    if (type.typeName.getText() === 'Record' && value) return { type: 'object', additionalProperties: toSchema(value) };
    return argument === undefined ? { $ref: type.typeName.getText() } : {};
  }
  return KEYWORDS[type.kind] ?? {};
}

export interface CheckOptions {
  readonly resolve: PublishedApi['resolve'];
  /** Whether required members may be missing: a test forge returns only members that are read. */
  readonly isPart: boolean;
}

/** Compares a value with a schema. Members that the schema does not have are errors. @returns The errors. */
export function compareWithSchema(value: unknown, schema: Schema, options: CheckOptions, path = ''): string[] {
  const found = options.resolve(schema);
  if (value === null && (schema.nullable === true || isNullable(found, options))) return [];
  const choices = found.anyOf ?? found.oneOf;
  if (choices !== undefined && found.properties === undefined) {
    const errors = choices.map((one) => compareWithSchema(value, one, options, path));
    return errors.sort((one, other) => one.length - other.length)[0] ?? [];
  }
  const whole = found.allOf === undefined ? found : merge(found, options);
  if (whole.enum !== undefined && !whole.enum.includes(value)) {
    return [`${path}: ${JSON.stringify(value)} is not one of ${JSON.stringify(whole.enum)}`];
  }
  const types = typeof whole.type === 'string' ? [whole.type] : (whole.type ?? []);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return [`${path}: ${JSON.stringify(value)} is not ${types.join(' or ')}`];
  }
  if (Array.isArray(value)) {
    return value.flatMap((one, index) => compareWithSchema(one, whole.items ?? {}, options, `${path}/${index}`));
  }
  if (typeof value !== 'object' || value === null || whole.properties === undefined) return [];
  return compareMembers(value as Readonly<Record<string, unknown>>, whole, options, path);
}

function compareMembers(
  value: Readonly<Record<string, unknown>>,
  { properties = {}, required = [], additionalProperties }: Schema,
  options: CheckOptions,
  path: string,
): string[] {
  const missing = options.isPart ? [] : required.filter((name) => value[name] === undefined);
  const errors = missing.map((name) => `${path}/${name} is missing`);
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const other = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    const schema = properties[name] ?? other;
    if (schema === undefined) {
      if (additionalProperties !== true) errors.push(`${path}/${name} is unknown`);
    } else errors.push(...compareWithSchema(member, schema, options, `${path}/${name}`));
  }
  return errors;
}

function isNullable(schema: Schema, options: CheckOptions): boolean {
  if (schema.nullable === true || (Array.isArray(schema.type) && schema.type.includes('null'))) return true;
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some((one) => isNullable(options.resolve(one), options));
}

function merge(schema: Schema, { resolve }: CheckOptions): Schema {
  const parts = (schema.allOf ?? []).map(resolve);
  const properties = Object.assign(
    {},
    ...parts.map((one) => one.properties ?? {}),
    schema.properties,
  ) as Schema['properties'];
  return { type: 'object', properties, required: parts.flatMap((one) => one.required ?? []) };
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'null') return value === null;
  return typeof value === type;
}
