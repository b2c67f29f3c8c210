import type { GraphQLSchema } from 'graphql';
import type { Stub } from '../target.js';
import type { WrittenResolver } from './list-resolvers.js';
import { locate } from './mistakes.js';
import { singleName } from './names.js';

/** The resolver file of each type that needs one: named by the document that the type is written in. */
export const listStubs = (
  schema: GraphQLSchema,
  resolvers: ReadonlyMap<string, readonly WrittenResolver[]>,
): readonly Stub[] =>
  [...resolvers].map(([type, list]) => {
    const exportName = `${singleName(type)}Resolvers`;
    return {
      file: `src/resolvers/${subjectOf(schema, type)}.ts`,
      header: `import type { SiteResolvers } from '../generated/site/resolvers.js';\n\nexport const ${exportName}: SiteResolvers['${type}'] = {\n`,
      footer: '};\n',
      exportName,
      members: list.map(({ field: { name } }) => ({ name, text: memberText(type, name) })),
    };
  });

const memberText = (type: string, field: string): string =>
  `${field}: () => {\n  throw new Error('${type}.${field} has no resolver yet.');\n},`;

/** `schema/file.graphql` is the subject `file`; Query belongs to none. */
function subjectOf(schema: GraphQLSchema, type: string): string {
  const node = type === 'Query' ? undefined : schema.getType(type)?.astNode;
  return node == null ? 'query' : (/([^/]+)\.graphql$/.exec(locate(node).file)?.[1] ?? singleName(type));
}
