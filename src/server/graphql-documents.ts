import { parse, validate } from 'graphql';
import type { DocumentNode, GraphQLError, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.js';
import { requireShallow } from './graphql-depth.js';

/**
 * The longest query of a site is some hundred tokens, the introspection of
 * GraphiQL 300. Four thousand are validated in under a tenth of a second
 * whatever they say.
 */
const MAX_TOKENS = 4000;

/** A parsed document takes about 50 bytes a character: 512 Ki characters are some 25 MiB. */
const CACHE_LIMITS = { max: 1000, maxSize: 512 * 1024, maxEntrySize: 32 * 1024 };

interface PreparedDocument {
  readonly document: DocumentNode;
  /** What validation found; empty for a document that can be executed. */
  readonly errors: readonly GraphQLError[];
}

/**
 * Parses and validates a query.
 *
 * @throws GraphQLError for a mistake of syntax, AppError `invalid_input` past a limit.
 */
export type PrepareDocument = (query: string) => PreparedDocument;

/** Keeps the valid documents of one schema. Invalid ones are not kept: they would push out those that are asked again. */
export function createDocuments(schema: GraphQLSchema): PrepareDocument {
  const valid = new LRUCache<string, PreparedDocument>({
    ...CACHE_LIMITS,
    sizeCalculation: (_, query) => query.length,
  });
  return (query) => {
    const known = valid.get(query);
    if (known) return known;
    const prepared = check(query, schema);
    if (prepared.errors.length === 0) valid.set(query, prepared);
    return prepared;
  };
}

function check(query: string, schema: GraphQLSchema): PreparedDocument {
  try {
    const document = parse(query, { maxTokens: MAX_TOKENS });
    requireShallow(document);
    return { document, errors: validate(schema, document) };
  } catch (cause) {
    // The parser recurses: a stack that overflowed is the document's doing.
    if (!(cause instanceof RangeError)) throw cause;
    throw new AppError('invalid_input', 'Expected a document of a few levels; received one that nests too deeply.');
  }
}
