import './services.css';
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useCallback, useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { contracts, publicOrigin, isServiceEnabled, siteReaders } from '../page-data.js';
import { user } from '../session.js';
import { FORGE_GUIDES, type Settings, toSettingsRequest } from '../settings/forge-guides.js';
import { sharedStorage } from '../ui/browser-storage.js';
import { CopyButton } from '../ui/buttons.js';
import { Field, Form, FormError, HiddenField, Select, useFormError } from '../ui/form.js';
import { Heading } from '../ui/headings.js';
import { Icon } from '../ui/icon.js';
import { useResource } from '../ui/resource.js';
import { showToast } from '../ui/toasts.js';

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
          {contracts.map(({ name, url, basePath }) => (
            <li key={url}>
              <a href={url}>{name} contract</a>: OpenAPI 3.1, under <code>{basePath}</code>
            </li>
          ))}
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

/** The completed steps of this browser, and whether the list is hidden. */
const STORAGE_KEY = 'trellis-first-steps';

type Mark = 'hidden' | 'picture' | 'query';

const marks = signal<readonly string[]>((sharedStorage.getItem(STORAGE_KEY) ?? '').split(' '));

function mark(step: Mark): void {
  marks.value = [...new Set([...marks.value, step])];
  sharedStorage.setItem(STORAGE_KEY, marks.value.join(' ').trim());
}

const EXAMPLE_QUERY = `{
  allFile(sort: { fields: [modifiedTime], order: [DESC] }, limit: 10) {
    totalCount
    nodes { relativePath prettySize modifiedTime(fromNow: true) }
  }
}`;

/** What exists already. A part that could not be read is absent. */
interface Progress {
  readonly settings?: Settings;
  readonly secretCount?: number;
  /** The id of the file of an image; `null` for a site without images. */
  readonly image?: string | null;
}

const hasSite = (): boolean => isServiceEnabled('site') && siteReaders !== 'token';

async function loadProgress(): Promise<Progress> {
  const ignore = (): undefined => undefined;
  const [settings, secretCount, image] = await Promise.all([
    isServiceEnabled('dashboard')
      ? dashboardClient.GET('/api/settings').then((result) => requireData(result), ignore)
      : undefined,
    isServiceEnabled('secrets') && user.value?.isAdmin ? countSecrets().catch(ignore) : undefined,
    hasSite() ? findImage().catch(ignore) : undefined,
  ]);
  return {
    ...(settings && { settings }),
    ...(secretCount !== undefined && { secretCount }),
    ...(image !== undefined && { image }),
  };
}

async function countSecrets(): Promise<number> {
  const { secretsClient } = await import('../secrets/secrets.js');
  return requireData(await secretsClient.GET('/objects', { params: { query: { limit: 1 } } })).length;
}

interface FirstImage {
  readonly allImageProc: { readonly nodes: readonly { readonly parent: { readonly id: string } | null }[] };
}

async function findImage(): Promise<string | null> {
  const { querySite } = await import('../site/query-site.js');
  const { allImageProc } = await querySite<FirstImage>('{ allImageProc(limit: 1) { nodes { parent { id } } } }');
  return allImageProc.nodes[0]?.parent?.id ?? null;
}

/** The first steps from an empty server to a board, a query, an image and a secret, for a user who has not hidden them. */
const GetStarted = () => (user.value == null || marks.value.includes('hidden') ? null : <FirstSteps />);

function FirstSteps() {
  const { value, problem } = useResource(useCallback(loadProgress, [user.value?.username]));
  if (problem !== undefined) return null;
  if (value === undefined) return <section class="first-steps loading quiet">Loading …</section>;
  const steps = listSteps(value);
  const done = steps.filter(({ isDone }) => isDone).length;
  if (steps.length === 0) return null;
  return (
    <section class="first-steps" aria-labelledby="first-steps">
      <div class="row spread wrapping">
        <h2 id="first-steps">Get started</h2>
        <p class="quiet">
          {done} of {steps.length} done
        </p>
      </div>
      <ol>
        {steps.map(({ id, title, isDone, content }) => (
          <li key={id} class={isDone ? 'done' : ''}>
            <h3>
              <Icon name={isDone ? 'check' : 'dash'} /> {title}
              <span class="aside">({isDone ? 'done' : 'to do'})</span>
            </h3>
            {content}
          </li>
        ))}
      </ol>
      <button type="button" class="plain" onClick={() => mark('hidden')}>
        Hide this list
      </button>
    </section>
  );
}

interface Step {
  readonly id: string;
  readonly title: string;
  readonly isDone: boolean;
  readonly content: ComponentChildren;
}

function listSteps({ settings, secretCount, image }: Progress): readonly Step[] {
  const hasForge =
    settings && FORGE_GUIDES.some(({ tokenSet, username }) => settings[tokenSet] || settings[username] !== '');
  return [
    ...(settings
      ? [
          {
            ...{ id: 'board', title: 'A board of your pull requests', isDone: hasForge === true },
            content: hasForge ? (
              <p>
                <a href="/">Open your board</a>, or connect more code hosts in <a href="/settings">Settings</a>.
              </p>
            ) : (
              <ConnectForge settings={settings} />
            ),
          },
        ]
      : []),
    ...(hasSite() ? listSiteSteps(image) : []),
    ...(secretCount === undefined
      ? []
      : [
          {
            ...{ id: 'secret', title: 'A secret in a program', isDone: secretCount > 0 },
            content: (
              <p>
                <a class="button" href="/vault/new?program=my-program">
                  Store a secret
                </a>{' '}
                It is encrypted in this browser. You get the commands that run a program with it.
              </p>
            ),
          },
        ]),
  ];
}

function listSiteSteps(image: string | null | undefined): readonly Step[] {
  const query = new URLSearchParams({ query: EXAMPLE_QUERY }).toString();
  return [
    {
      ...{ id: 'query', title: 'A query of your files', isDone: marks.value.includes('query') },
      content: (
        <p>
          <a class="button" href={`/graphql#${query}`} onClick={() => mark('query')}>
            Try a query
          </a>{' '}
          It lists the newest files. Press “Execute query”.
        </p>
      ),
    },
    {
      ...{ id: 'picture', title: 'An image on a page', isDone: marks.value.includes('picture') },
      content: image ? (
        <p>
          <a
            class="button"
            href={`/site/transform?${new URLSearchParams({ file: image }).toString()}`}
            onClick={() => mark('picture')}
          >
            Transform an image
          </a>{' '}
          Copy its HTML into a page.
        </p>
      ) : (
        <p class="quiet">The site has no images yet. Add a JPEG, PNG, WebP or AVIF file to its folder.</p>
      ),
    },
  ];
}

const OPTIONS = FORGE_GUIDES.map(({ forge, name }) => [forge, name] as const);

/** Connects the first code host: tests the token, finds the username, saves both and opens the board. */
function ConnectForge({ settings }: { readonly settings: Settings }) {
  const { route } = useLocation();
  const [forge, setForge] = useState<(typeof OPTIONS)[number][0]>('github');
  const [address, setAddress] = useState('');
  const [token, setToken] = useState('');
  const guide = FORGE_GUIDES.find((one) => one.forge === forge);
  const [problem, connect] = useFormError(async () => {
    if (guide === undefined) return;
    const typed = address === '' && forge !== 'github' ? guide.placeholder : address;
    const draft = { ...toSettingsRequest(settings), [guide.url]: typed, [guide.token]: token };
    const found = requireData(await dashboardClient.POST('/api/settings/test', { body: { forge, settings: draft } }));
    if (!found.works) throw new Error(found.error ?? `${guide.name} could not be read with this token.`);
    const body = { ...draft, ...(found.username !== undefined && { [guide.username]: found.username }) };
    requireData(await dashboardClient.PUT('/api/settings', { body }));
    showToast(`${guide.name} connected. The board is refreshing.`);
    route('/');
  });
  return (
    <Form
      verb="Connect"
      onSave={connect}
      beside={
        <a class="button" href="/settings">
          More settings
        </a>
      }
    >
      <div class="field">
        <Select label="Code host" value={forge} options={OPTIONS} onValue={setForge} />
      </div>
      <Field
        label="URL"
        type="url"
        maxLength={2048}
        placeholder={guide?.placeholder}
        hint="Leave empty for the address that is shown."
        value={address}
        onValue={setAddress}
      />
      <HiddenField
        label="Token"
        maxLength={512}
        hint="Stored encrypted. Settings lists the permissions that it needs."
        value={token}
        onValue={setToken}
      />
      <FormError problem={problem} />
    </Form>
  );
}
