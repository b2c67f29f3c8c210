import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { clearSent, Field, Form, OneTimeSecret, Radios, Select, UsernameField } from '../ui/form.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatDate, serverNow } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';

type APIToken = components['schemas']['APIToken'];
type CreatedToken = components['schemas']['CreatedToken'];

const loadTokens = async () => requireData(await dashboardClient.GET('/api/tokens'));

export function Tokens() {
  const tokens = useResource(loadTokens);
  const [made, setMade] = useState<CreatedToken>();
  const revoke = async ({ id, label }: APIToken): Promise<void> => {
    await changeEntry(tokens.reload, dashboardClient.DELETE('/api/tokens/{id}', { params: { path: { id } } }));
    // A new token that replaces the revoked one may not be copied yet.
    setMade((shown) => (shown?.id === id ? undefined : shown));
    await tokens.reload();
    showToast(`Token “${label}” revoked.`);
  };
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens" tabIndex={-1}>
        API tokens
      </h2>
      <p class="quiet">
        Tokens let scripts use the API. Send them as <code>Authorization: Bearer</code>.
      </p>
      {made !== undefined && (
        <OneTimeSecret label="New token. Copy it now: it won’t be shown again." value={made.token} />
      )}
      <AsyncContent from={tokens}>
        {(list) => (
          <ul class="things">
            {list.length === 0 && <li>No tokens.</li>}
            {list.map((token) => (
              <li key={token.id}>
                <div>
                  {token.label}
                  <small>{describe(token)}</small>
                </div>
                <ConfirmButton
                  class="danger"
                  label={`Revoke ${token.label}`}
                  question="Revoke token?"
                  onAct={() => revoke(token)}
                >
                  Revoke
                </ConfirmButton>
              </li>
            ))}
          </ul>
        )}
      </AsyncContent>
      <NewToken
        onMade={async (token) => {
          setMade(token);
          await tokens.reload();
        }}
      />
    </section>
  );
}

function describe({ scopes, expiresAt, lastUsedAt }: APIToken): string {
  return [
    scopes.includes('write') ? 'read and write' : 'read only',
    Date.parse(expiresAt) > serverNow() ? `expires ${formatDate(expiresAt)}` : 'expired',
    lastUsedAt === undefined ? 'never used' : `last used ${formatDate(lastUsedAt)}`,
  ].join(' · ');
}

/** The maximum lifetime that the server allows. */
const MAX_DAYS = 366;

const TERMS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['60', '60 days'],
  ['90', '90 days'],
  ['custom', 'Custom'],
] as const;

type Term = (typeof TERMS)[number][0];

interface NewTokenProps {
  readonly onMade: (token: CreatedToken) => Promise<void>;
}

function NewToken({ onMade }: NewTokenProps) {
  const [label, setLabel] = useState('');
  const [term, setTerm] = useState<Term>('30');
  const [custom, setCustom] = useState('365');
  const [mayWrite, setMayWrite] = useState(false);
  const expiresAt = toExpiry(Number(term === 'custom' ? custom : term), serverNow());
  const create = async (): Promise<void> => {
    const body = { label, expiresAt, scopes: mayWrite ? ['read' as const, 'write' as const] : ['read' as const] };
    const created = requireData(await dashboardClient.POST('/api/tokens', { body }));
    setLabel(clearSent(label));
    await onMade(created);
  };
  return (
    <Form verb="Create token" onSave={create}>
      <Field label="Token name" required maxLength={100} value={label} onValue={setLabel} />
      <Radios legend="Expires in" value={term} options={TERMS} onValue={setTerm} />
      {term === 'custom' && (
        <Field
          label="Days until it expires"
          type="number"
          required
          min={1}
          max={MAX_DAYS}
          value={custom}
          onValue={setCustom}
        />
      )}
      <p class="quiet" role="status">
        {expiresAt === '' ? `Enter 1 to ${MAX_DAYS} days.` : `Expires on ${formatDate(expiresAt)}.`}
      </p>
      <label class="choice">
        <input
          type="checkbox"
          checked={mayWrite}
          onChange={({ currentTarget }) => setMayWrite(currentTarget.checked)}
        />
        Allow write access
      </label>
    </Form>
  );
}

/**
 * Returns the expiry of a lifetime, or an empty string if the lifetime is invalid. It is a minute early, as the time of
 * the server is known to a second, and passes until the request arrives.
 */
function toExpiry(days: number, now: number): string {
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) return '';
  return new Date(now + days * 86_400_000 - 60_000).toISOString();
}

const loadSharing = async () => requireData(await dashboardClient.GET('/api/sharing'));

export function SharingSection() {
  const sharing = useResource(loadSharing);
  const [typed, setTyped] = useState('');
  const share = async (): Promise<void> => {
    const username = typed.trim();
    requireData(await dashboardClient.PUT('/api/sharing/{username}', { params: { path: { username } } }));
    setTyped(clearSent(typed));
    await sharing.reload();
    showToast(`${username} can now view your board.`);
  };
  const unshare = async (name: string): Promise<void> => {
    requireData(await dashboardClient.DELETE('/api/sharing/{username}', { params: { path: { username: name } } }));
    await sharing.reload();
    showToast(`${name} can no longer view your board.`);
  };
  return (
    <section aria-labelledby="sharing">
      <h2 id="sharing" tabIndex={-1}>
        Sharing
      </h2>
      <p class="quiet">These people can view your board but not change it.</p>
      <AsyncContent from={sharing}>
        {({ sharedWith, sharedWithMe }) => (
          <>
            <ul class="things">
              {sharedWith.length === 0 && <li>Not shared with anyone.</li>}
              {sharedWith.map((viewer) => (
                <li key={viewer.username}>
                  <div>
                    {viewer.displayName}
                    <small>{viewer.username}</small>
                  </div>
                  <ActionButton
                    aria-label={`Stop sharing with ${viewer.username}`}
                    onAct={() => unshare(viewer.username)}
                  >
                    Stop sharing
                  </ActionButton>
                </li>
              ))}
            </ul>
            {sharedWithMe.length > 0 && (
              <p>
                Shared with you: {sharedWithMe.map(({ displayName }) => displayName).join(', ')}. Select one of them
                under “Board of” on <a href="/">the board</a>.
              </p>
            )}
          </>
        )}
      </AsyncContent>
      <Form verb="Share" onSave={share}>
        <UsernameField value={typed} onValue={setTyped} />
      </Form>
    </section>
  );
}

type Feed = components['schemas']['Feed'];
type CreatedFeed = components['schemas']['CreatedFeed'];
type Kind = components['schemas']['FeedKind'];

const load = async () => {
  const [feeds, views] = await Promise.all([dashboardClient.GET('/api/feeds'), dashboardClient.GET('/api/views')]);
  return { feeds: requireData(feeds), views: requireData(views) };
};

const KINDS: Readonly<Record<Kind, string>> = { atom: 'Atom feed', badge: 'Badge' };

/** The settings section for feeds and badges: links to the board for programs that can't sign in. */
export function FeedsSection() {
  const feeds = useResource(load);
  const [made, setMade] = useState<CreatedFeed>();
  const remove = async ({ id, label }: Feed): Promise<void> => {
    await changeEntry(feeds.reload, dashboardClient.DELETE('/api/feeds/{id}', { params: { path: { id } } }));
    setMade((shown) => (shown?.id === id ? undefined : shown));
    await feeds.reload();
    showToast(`Feed “${label}” deleted.`);
  };
  return (
    <section aria-labelledby="feeds">
      <h2 id="feeds" tabIndex={-1}>
        Feeds and badges
      </h2>
      <p class="quiet">
        Your board or a saved view, as a feed for readers or as a badge for web pages. Anyone with the link can view it.
      </p>
      {made !== undefined && (
        <OneTimeSecret label="New feed link. Copy it now: it won’t be shown again." value={made.url} />
      )}
      <AsyncContent from={feeds}>
        {({ feeds: list, views }) => (
          <>
            <ul class="things">
              {list.length === 0 && <li>No feeds.</li>}
              {list.map((feed) => (
                <li key={feed.id}>
                  <div>
                    {feed.label}
                    <small>
                      {KINDS[feed.kind]} of {feed.view ?? 'the whole board'} · created {formatDate(feed.createdAt)}
                    </small>
                  </div>
                  <ConfirmButton
                    class="danger"
                    label={`Delete feed ${feed.label}`}
                    question="Delete feed?"
                    onAct={() => remove(feed)}
                  >
                    Delete feed
                  </ConfirmButton>
                </li>
              ))}
            </ul>
            <NewFeed
              views={views.map(({ name }) => name)}
              onMade={async (feed) => {
                setMade(feed);
                await feeds.reload();
              }}
            />
          </>
        )}
      </AsyncContent>
    </section>
  );
}

interface NewFeedProps {
  readonly views: readonly string[];
  readonly onMade: (feed: CreatedFeed) => Promise<void>;
}

function NewFeed({ views, onMade }: NewFeedProps) {
  const [label, setLabel] = useState('');
  const [kind, setKind] = useState<Kind>('atom');
  const [view, setView] = useState('');
  const create = async (): Promise<void> => {
    const body = { kind, label, ...(view === '' ? {} : { view }) };
    const created = requireData(await dashboardClient.POST('/api/feeds', { params: {}, body }));
    setLabel(clearSent(label));
    await onMade(created);
  };
  return (
    <Form verb="Create feed" onSave={create}>
      <Field label="Feed title" required maxLength={100} value={label} onValue={setLabel} />
      <div class="selects">
        <Select label="Type" value={kind} options={Object.entries(KINDS) as [Kind, string][]} onValue={setKind} />
        <Select
          label="Content"
          value={view}
          options={[['', 'The whole board'], ...views.map((name) => [name, name] as const)]}
          onValue={setView}
        />
      </div>
    </Form>
  );
}
