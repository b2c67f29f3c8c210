/**
 * The published schema of GitHub, which others wrote, as the contract of a site: why it is refused as it is, and that all
 * types of its queries are accepted and published once the refused parts are adapted.
 */
import { readdir, readFile } from 'node:fs/promises';
import { ContractError } from '@trellis/codegen/documents';
import { deriveFullSchema, getDerivation } from '@trellis/codegen/site/load-schema';
import {
  buildSchema,
  type DefinitionNode,
  type FieldDefinitionNode,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  type TypeNode,
} from 'graphql';
import { installTool } from '../../tools/install.js';

installTool('tools/witnesses');

const SCHEMA = new URL('../../schema/', import.meta.url);
const GITHUB = 'tools/witnesses/node_modules/@octokit/graphql-schema/schema.graphql';

/** What GitHub's schema has in common with every site, or what a site has not. */
const LEFT_OUT = new Set(['Date', 'Mutation', 'Node', 'PageInfo']);

let text: string;
let common: readonly (readonly [string, string])[];
beforeAll(async () => {
  text = await readFile(GITHUB, 'utf8');
  const files = (await readdir(SCHEMA)).filter((file) => file !== 'recipe.graphql');
  common = await Promise.all(
    files.map(async (file) => [`schema/${file}`, await readFile(new URL(file, SCHEMA), 'utf8')] as const),
  );
});

const derive = (contract: string) => deriveFullSchema(new Map([...common, ['schema/github.graphql', contract]]));

function listRefusals(contract: string): string[] {
  try {
    derive(contract);
    return [];
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.diagnostics.map(({ message }) => message).sort();
  }
}

test('the schema of GitHub is refused for the names of a site, mutations and fields that it declares twice', () => {
  expect(listRefusals(text)).toEqual([
    'Date is a built-in type, which schema/node.graphql:5 defines. Choose another name.',
    'Field "EnterpriseOwnerInfo.repositoryDeployKeySetting" can only be defined once.',
    'Field "EnterpriseOwnerInfo.repositoryDeployKeySettingOrganizations" can only be defined once.',
    'Node is a built-in type, which schema/node.graphql:8 defines. Choose another name.',
    'PageInfo is a built-in type, which schema/node.graphql:40 defines. Choose another name, or add fields to it: extend type PageInfo.',
    'The name "Mutation" is reserved: the schema is read-only.',
    'The type Query is generated. Add fields with "extend type Query".',
  ]);
});

test('the types of all queries of GitHub are accepted with resolvers for fields with arguments, and published', () => {
  const adapted = adapt(text);
  const { sdl } = getDerivation(derive(print({ kind: Kind.DOCUMENT, definitions: adapted })));
  const [published, original] = [
    buildSchema(sdl),
    buildSchema(print({ kind: Kind.DOCUMENT, definitions: unique(text) })),
  ];
  const names = adapted.map(nameOf).filter((name) => name !== 'Query');
  expect(names.length).toBeGreaterThan(1_000);
  const describe = (schema: typeof original, name: string) => {
    const type = schema.getType(name);
    const hasFields = isObjectType(type) || isInterfaceType(type);
    return hasFields
      ? Object.values(type.getFields()).map((field) => `${field.name}: ${String(field.type)}`)
      : type?.name;
  };
  for (const name of names) expect([name, describe(published, name)]).toEqual([name, describe(original, name)]);
});

const nameOf = (node: DefinitionNode): string => ('name' in node ? (node.name?.value ?? '') : '');

const namedType = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type));

/** Drops the second declaration of a field. */
function withoutDuplicates(node: DefinitionNode): DefinitionNode {
  if (!('fields' in node) || node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION) return node;
  const fields = new Map((node.fields as readonly FieldDefinitionNode[]).map((field) => [field.name.value, field]));
  return { ...node, fields: [...fields.values()] } as DefinitionNode;
}

const unique = (schema: string): DefinitionNode[] => parse(schema).definitions.map(withoutDuplicates);

/** Returns the definitions that queries reach, as a site declares them. */
function adapt(schema: string): DefinitionNode[] {
  const definitions = new Map(unique(schema).map((node) => [nameOf(node), node]));
  const reached = new Set<string>();
  const reach = (name: string): void => {
    const node = definitions.get(name);
    if (node === undefined || reached.has(name) || LEFT_OUT.has(name)) return;
    reached.add(name);
    for (const field of 'fields' in node ? (node.fields ?? []) : []) {
      reach(namedType(field.type));
      for (const argument of 'arguments' in field ? (field.arguments ?? []) : []) reach(namedType(argument.type));
    }
    for (const type of 'types' in node ? (node.types ?? []) : []) reach(namedType(type));
    for (const type of 'interfaces' in node ? (node.interfaces ?? []) : []) reach(namedType(type));
    if (node.kind !== Kind.INTERFACE_TYPE_DEFINITION) return;
    for (const other of definitions.values()) {
      const types = 'interfaces' in other ? (other.interfaces ?? []) : [];
      if (types.some((type) => namedType(type) === name)) reach(nameOf(other));
    }
  };
  reach('Query');
  return [...reached].flatMap((name) => definitions.get(name) ?? []).map(toOwn);
}

const COMPUTED = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'computed' } } as const;

/** Fields with arguments have resolvers, queries extend those of the site, and no type is a record. */
function toOwn(node: DefinitionNode): DefinitionNode {
  if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) return node;
  const { description: _description, ...rest } = node;
  if (nameOf(node) === 'Query') return { ...rest, kind: Kind.OBJECT_TYPE_EXTENSION, interfaces: [] };
  const fields = node.fields?.map((field) =>
    (field.arguments ?? []).length > 0 ? { ...field, directives: [...(field.directives ?? []), COMPUTED] } : field,
  );
  return { ...node, fields, interfaces: node.interfaces?.filter((type) => namedType(type) !== 'Node') };
}
