import { CopyButton } from '../shell/copy-button.js';
import type { Recipe } from './recipe-address.js';
import { formatQuery } from './recipe.js';

interface QueryTextProps {
  readonly path: string;
  readonly recipe: Recipe;
  readonly args: string;
}

/** The query that asks for what is shown. */
export function QueryText({ path, recipe: { shape, results }, args }: QueryTextProps) {
  const query = formatQuery(path, shape.field.name, args, results);
  return (
    <section aria-labelledby="the-query">
      <h2 id="the-query">The query</h2>
      <pre class="query" tabIndex={0} role="region" aria-label="Text of the query">
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
