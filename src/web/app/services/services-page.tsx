import { publicOrigin, isServiceEnabled, siteReaders } from '../page-data.js';
import { CopyButton } from '../ui/buttons.js';
import { Heading } from '../ui/headings.js';
import { GetStarted } from './get-started.js';

const NEWEST = `{
  allFile(sort: { fields: [modifiedTime], order: [DESC] }, limit: 10) {
    totalCount
    nodes { relativePath prettySize modifiedTime(fromNow: true) }
  }
}`;

const EXTENSIONS = `{
  allFile {
    group(field: extension) { fieldValue totalCount }
  }
}`;

/** The services that this server runs, with links to their contracts and examples. */
export function ServicesPage() {
  return (
    <>
      <Heading>Services</Heading>
      <GetStarted />
      <p>This server runs the services below.</p>
      {isServiceEnabled('site') && <SiteData />}
      <section aria-labelledby="contracts">
        <h2 id="contracts">APIs</h2>
        <p>
          <a href="/docs">API reference</a>
        </p>
        <ul>
          {isServiceEnabled('dashboard') && (
            <li>
              <a href="/api/openapi.json">Dashboard contract</a>: OpenAPI 3.1, under <code>/api</code>
            </li>
          )}
          {isServiceEnabled('secrets') && (
            <li>
              <a href="/secrets/openapi.json">Secrets contract</a>: OpenAPI 3.1, under <code>/secrets</code>
            </li>
          )}
          <li>
            <a href="/healthz">Health</a>: whether the server is up
          </li>
        </ul>
      </section>
    </>
  );
}

/** The curl option that authenticates a client. */
const CREDENTIAL = {
  public: '',
  people: "-H 'Authorization: Bearer <your API token>' ",
  token: "-H 'Authorization: Bearer <token of the site>' ",
};

function SiteData() {
  return (
    <section aria-labelledby="site">
      <h2 id="site">Site data</h2>
      <p>
        Query the files of the site with GraphQL at <code>/graphql</code>.{' '}
        <a href="/graphql">Open the GraphQL explorer</a>
      </p>
      <Example name="The newest files" text={NEWEST} />
      <Example name="Files by extension" text={EXTENSIONS} />
      <Example
        name="From a terminal"
        text={`curl -H 'Content-Type: application/json' ${CREDENTIAL[siteReaders]}\\
  -d '{"query":"{ allFile { totalCount } }"}' \\
  ${publicOrigin}/graphql`}
      />
    </section>
  );
}

function Example({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <>
      <div class="example-head">
        <h3>{name}</h3>
        <CopyButton value={text} what={`“${name}”`} />
      </div>
      <pre class="example" tabIndex={0} role="region" aria-label={name}>
        <code>{text}</code>
      </pre>
    </>
  );
}
