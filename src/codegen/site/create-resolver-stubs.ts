import type { GraphQLSchema } from 'graphql';
import type { Stub } from '../generator-output.js';
import type { HandWrittenResolver } from './list-resolvers.js';
import { locateAstNode } from './diagnostics.js';
import { singleQueryName } from './names.js';

/** The hand-written resolvers by type. */
type Resolvers = ReadonlyMap<string, readonly HandWrittenResolver[]>;

/**
 * Lists the stubs of resolver files, one per type. The first type of a document gets the file named after the document,
 * such as `src/resolvers/file.ts` for `schema/file.graphql`; each further type gets a file named after the type.
 */
export function createResolverStubs(schema: GraphQLSchema, resolvers: Resolvers): readonly Stub[] {
  const taken = new Set<string>();
  return [...resolvers].map(([type, list]) => {
    const subject = subjectOf(schema, type);
    const name = taken.has(subject) ? kebabCase(type) : subject;
    taken.add(name);
    return toStub(name, type, list);
  });
}

/** Query has no document, as it is derived. */
function subjectOf(schema: GraphQLSchema, type: string): string {
  const node = type === 'Query' ? undefined : schema.getType(type)?.astNode;
  return (node && /([^/]+)\.graphql$/.exec(locateAstNode(node).file)?.[1]) ?? kebabCase(type);
}

const kebabCase = (name: string): string => name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '-').toLowerCase();

function toStub(name: string, type: string, list: readonly HandWrittenResolver[]): Stub {
  const exportName = `${singleQueryName(type)}Resolvers`;
  return {
    file: `src/resolvers/${name}.ts`,
    header: `import type { SiteResolvers } from '../generated/site/resolvers.js';

export const ${exportName}: SiteResolvers['${type}'] = {
`,
    footer: '};\n',
    exportName,
    use: {
      file: 'src/resolvers/schema.ts',
      lines: [`import { ${exportName} } from './${name}.js';`, `${type}: ${exportName},`],
    },
    members: list.map(({ field }) => ({ name: field.name, text: memberText(type, field.name) })),
  };
}

const memberText = (type: string, field: string): string =>
  `${field}: () => {\n  throw new Error('${type}.${field} is not implemented yet.');\n},`;
