import { CopyButton } from '../ui/copy-button.js';
import type { TransformForm } from './transform-url.js';
import { formatQuery } from './transform.js';

interface QueryTextProps {
  readonly path: string;
  readonly recipe: TransformForm;
  readonly args: string;
}

/** The GraphQL query for the derived image, with buttons that copy and open it. */
export function QueryText({ path, recipe: { shape, results }, args }: QueryTextProps) {
  const query = formatQuery(path, shape.field.name, args, results);
  return (
    <section aria-labelledby="the-query">
      <h2 id="the-query">Query</h2>
      <pre class="query" tabIndex={0} role="region" aria-label="Query text">
        <code>{query}</code>
      </pre>
      <p class="acts">
        <CopyButton value={query} what="the query" />
        <a class="button" href={`/graphql#${new URLSearchParams({ query }).toString()}`}>
          Open in GraphiQL
        </a>
      </p>
    </section>
  );
}
