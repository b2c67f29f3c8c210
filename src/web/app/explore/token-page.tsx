import { ExploreFrame } from './explore-frame.js';

/** Takes the place of the pages of a site that only its token opens. */
export function TokenPage() {
  return (
    <ExploreFrame title="Site data">
      <p>
        This site needs a token, so these pages cannot show it. Programs send the token in the header{' '}
        <code>Authorization: Bearer …</code>. To run queries in the browser, open the{' '}
        <a href="/graphql">GraphQL explorer</a> and enter the header there.
      </p>
    </ExploreFrame>
  );
}
