import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { Field, Form, HiddenField, Select } from '../ui/form.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatAge, formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { TestResult } from './forge-form.js';
import { FORGE_GUIDES, type ForgeGuide } from './forge-guides.js';

type Schemas = components['schemas'];
type Credential = Schemas['ForgeCredential'];
type ForgeTest = Schemas['ForgeTest'];

const load = async (): Promise<readonly Credential[]> =>
  requireData(await dashboardClient.GET('/api/settings/credentials'));

/** Credentials for further servers, or for further owners at the same server. */
export function FurtherCredentials() {
  const loaded = useResource(load);
  return (
    <fieldset>
      <legend>Further credentials</legend>
      <p class="quiet">
        For a second server, such as GitHub Enterprise beside github.com, or for fine-grained tokens that cover one
        owner each. The board shows the repositories of all, and the permissions of a token are the same as above.
      </p>
      <AsyncContent from={loaded}>
        {(credentials) => (
          <>
            <ul class="things">
              {credentials.length === 0 && <li>No further credentials.</li>}
              {credentials.map((one) => (
                <CredentialItem key={one.id} credential={one} onChanged={loaded.reload} />
              ))}
            </ul>
            <details>
              <summary>Add a credential</summary>
              <NewCredential onMade={loaded.reload} />
            </details>
          </>
        )}
      </AsyncContent>
    </fieldset>
  );
}

interface CredentialProps {
  readonly credential: Credential;
  readonly onChanged: () => Promise<void>;
}

const guideOf = (forge: Credential['forge']): ForgeGuide | undefined =>
  FORGE_GUIDES.find((guide) => guide.forge === forge);

function CredentialItem({ credential, onChanged }: CredentialProps) {
  const { id, forge, label, url } = credential;
  const [found, setFound] = useState<ForgeTest>();
  const params = { path: { id } };
  const test = async (): Promise<void> => {
    setFound(undefined);
    setFound(requireData(await dashboardClient.POST('/api/settings/credentials/{id}/test', { params })));
    await onChanged();
  };
  const remove = async (): Promise<void> => {
    await changeEntry(onChanged, dashboardClient.DELETE('/api/settings/credentials/{id}', { params }));
    await onChanged();
    showToast(`Credential “${label}” deleted, with its rows on the board.`);
  };
  const guide = guideOf(forge);
  return (
    <li class="credential">
      <div>
        <strong>{label}</strong>
        <small>
          {guide?.name} · {url === '' ? 'github.com' : new URL(url).host}
        </small>
        <State credential={credential} />
      </div>
      <div class="acts">
        <ActionButton aria-label={`Test ${label}`} onAct={test}>
          Test
        </ActionButton>
        <ConfirmButton class="danger" label={`Delete credential ${label}`} question={`Delete ${label}?`} onAct={remove}>
          Delete
        </ConfirmButton>
      </div>
      <div role="status" class="tested">
        {found && <TestResult found={found} />}
      </div>
      <details>
        <summary>Edit {label}</summary>
        <EditCredential credential={credential} onSaved={onChanged} />
      </details>
    </li>
  );
}

function State({ credential }: { readonly credential: Credential }) {
  const { state, error, staleSince, repoCount = 0, expiresAt } = credential;
  const expiry = expiresAt === undefined ? '' : ` · expires on ${formatDateTime(expiresAt)}`;
  if (state === 'unread') return <small>Not read yet</small>;
  if (state === 'failed') {
    return (
      <p class="bad">
        {error}
        {staleSince !== undefined && ` Showing data from ${formatAge(staleSince)}.`}
        {expiry}
      </p>
    );
  }
  return (
    <small>
      Works · {repoCount === 1 ? '1 repository' : `${repoCount.toLocaleString()} repositories`}
      {expiry}
    </small>
  );
}

interface EditCredentialProps {
  readonly credential: Credential;
  readonly onSaved: () => Promise<void>;
}

function EditCredential({ credential, onSaved }: EditCredentialProps) {
  const [draft, setDraft] = useState({ label: credential.label, username: credential.username, token: '' });
  const edit = (change: Partial<typeof draft>): void => setDraft((before) => ({ ...before, ...change }));
  const save = async (): Promise<void> => {
    const params = { path: { id: credential.id } };
    requireData(await dashboardClient.PUT('/api/settings/credentials/{id}', { params, body: draft }));
    setDraft((now) => (now.token === draft.token ? { ...now, token: '' } : now));
    await onSaved();
    showToast(`Credential “${draft.label.trim()}” saved. The board is refreshing.`);
  };
  return (
    <Form verb="Save credential" onSave={save}>
      <LabelField value={draft.label} onValue={(label) => edit({ label })} />
      <AccountField value={draft.username} onValue={(username) => edit({ username })} />
      <HiddenField
        label="Token"
        maxLength={512}
        hint="A token is saved. Leave empty to keep it."
        value={draft.token}
        onValue={(token) => edit({ token })}
      />
    </Form>
  );
}

interface InputProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

const LabelField = (props: InputProps) => (
  <Field label="Name" required maxLength={100} hint="Shown on its rows of the board." {...props} />
);

const AccountField = (props: InputProps) => (
  <Field
    label="Username"
    maxLength={64}
    autoCapitalize="none"
    spellcheck={false}
    hint="Your username there. The board uses it to determine whose turn it is."
    {...props}
  />
);

const NO_CREDENTIAL = { label: '', url: '', username: '', token: '' };

const FORGES = FORGE_GUIDES.map(({ forge, name }) => [forge, name] as const);

function NewCredential({ onMade }: { readonly onMade: () => Promise<void> }) {
  const [forge, setForge] = useState<Credential['forge']>('github');
  const [draft, setDraft] = useState(NO_CREDENTIAL);
  const [found, setFound] = useState<ForgeTest>();
  const edit = (change: Partial<typeof draft>): void => setDraft((before) => ({ ...before, ...change }));
  const create = async (): Promise<void> => {
    setFound(undefined);
    const body = { forge, ...draft };
    const { id, label } = requireData(await dashboardClient.POST('/api/settings/credentials', { params: {}, body }));
    setDraft((now) => (now === draft ? NO_CREDENTIAL : now));
    showToast(`Credential “${label}” added. The board is refreshing.`);
    const params = { path: { id } };
    const test = await dashboardClient.POST('/api/settings/credentials/{id}/test', { params }).catch(() => undefined);
    // A failed test request says nothing about the token.
    setFound(test?.data);
    await onMade();
  };
  const guide = guideOf(forge);
  return (
    <>
      <Form verb="Add credential" onSave={create}>
        <Select label="Code host" value={forge} options={FORGES} onValue={setForge} />
        <LabelField value={draft.label} onValue={(label) => edit({ label })} />
        <Field
          label="URL"
          type="url"
          required={forge !== 'github'}
          maxLength={2048}
          placeholder={guide?.placeholder}
          hint={guide?.addressHint}
          value={draft.url}
          onValue={(url) => edit({ url })}
        />
        <AccountField value={draft.username} onValue={(username) => edit({ username })} />
        <HiddenField label="Token" required maxLength={512} value={draft.token} onValue={(token) => edit({ token })} />
      </Form>
      <div role="status" class="tested">
        {found && <TestResult found={found} />}
      </div>
    </>
  );
}
