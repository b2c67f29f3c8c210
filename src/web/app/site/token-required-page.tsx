import { SiteLayout } from './site-layout.js';

/** Replaces the site pages when the site can only be read with a token. */
export function TokenRequiredPage() {
  return (
    <SiteLayout title="Site data">
      <p>
        This site needs a token, so these pages can’t show it. Programs send the token in the header{' '}
        <code>Authorization: Bearer …</code>. To run queries in the browser, open the{' '}
        <a href="/graphql">GraphQL explorer</a> and enter the header there.
      </p>
    </SiteLayout>
  );
}
