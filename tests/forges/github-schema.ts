import { readFileSync } from 'node:fs';
import { buildSchema, type DocumentNode, NoDeprecatedCustomRule, parse, validate } from 'graphql';
import { installTool } from '../../tools/install.js';

installTool('tools/witnesses');

/** GitHub's published schema. */
export const githubSchema = buildSchema(
  readFileSync('tools/witnesses/node_modules/@octokit/graphql-schema/schema.graphql', 'utf8'),
  { assumeValid: true },
);

const documents = new Map<string, DocumentNode>();

/** Parses a query. @throws Error for a query that GitHub would reject, or that uses a deprecated field. */
export function parseGithubQuery(query: string): DocumentNode {
  const known = documents.get(query);
  if (known !== undefined) return known;
  const document = parse(query);
  const [error] = [...validate(githubSchema, document), ...validate(githubSchema, document, [NoDeprecatedCustomRule])];
  if (error !== undefined) throw error;
  documents.set(query, document);
  return document;
}
