import { useState } from 'preact/hooks';
import { type components, readAll } from '../../../generated/secrets/client.js';
import { requireData } from '../api.js';
import { ConfirmButton } from '../ui/buttons.js';
import { clearSent, Field, Form, OneTimeSecret } from '../ui/form.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatDate } from '../ui/times.js';
import { SecretsLayout } from './secrets-layout.js';
import { secretsClient } from './secrets.js';

type Access = components['schemas']['TokenAccess'];
type Token = components['schemas']['TokenMetadata'] & {
  readonly consumer?: string;
  readonly addresses?: readonly string[];
};

/** The properties of a new token that the page shows once. */
interface IssuedToken {
  readonly id: string;
  readonly value: string;
}

/** Texts and paths of the two kinds of tokens, which the page treats alike. */
const KINDS = {
  write: {
    title: 'Write tokens',
    about: 'Can read, write and manage all secrets or some of them, but not create write tokens.',
    paths: { list: '/tokens', one: '/tokens/{id}', rotate: '/tokens/{id}/rotate', purge: '/tokens/{id}/purge' },
  },
  consumer: {
    title: 'Consumer tokens',
    about: 'Can read only the encrypted secrets of one consumer.',
    paths: {
      list: '/consumer-tokens',
      one: '/consumer-tokens/{id}',
      rotate: '/consumer-tokens/{id}/rotate',
      purge: '/consumer-tokens/{id}/purge',
    },
  },
} as const;

type Kind = keyof typeof KINDS;

const LOADERS = {
  write: () => collect(readAll((query) => secretsClient.GET('/tokens', { params: { query } }))),
  consumer: () => collect(readAll((query) => secretsClient.GET('/consumer-tokens', { params: { query } }))),
};

/** Reads all pages of a list. */
async function collect(tokens: AsyncIterable<Token>): Promise<readonly Token[]> {
  const all: Token[] = [];
  for await (const token of tokens) all.push(token);
  return all;
}

export function TokensPage() {
  return (
    <SecretsLayout title="Tokens">
      <div class="token-kinds">
        <Tokens kind="consumer" />
        <Tokens kind="write" />
      </div>
    </SecretsLayout>
  );
}

function Tokens({ kind }: { readonly kind: Kind }) {
  const { title, about, paths } = KINDS[kind];
  const tokens = useResource(LOADERS[kind]);
  const [issued, setIssued] = useState<IssuedToken>();
  const remove = async (path: (typeof paths)['one'] | (typeof paths)['purge'], { id }: Token): Promise<void> => {
    await changeEntry(tokens.reload, secretsClient.DELETE(path, { params: { path: { id } } }));
    // A new token that replaces the deleted one may not be copied yet.
    setIssued((shown) => (shown?.id === id ? undefined : shown));
    await tokens.reload();
  };
  const rotate = async ({ id }: Token): Promise<void> => {
    const rotated = await changeEntry(
      tokens.reload,
      secretsClient.POST(paths.rotate, { params: { path: { id } }, body: {} }),
    );
    setIssued(rotated);
    await tokens.reload();
  };
  return (
    <section aria-labelledby={`${kind}-tokens`}>
      <h2 id={`${kind}-tokens`} tabIndex={-1}>
        {title}
      </h2>
      <p class="quiet">
        {about}
        {kind === 'write' && (
          <>
            {' '}
            A command line gets its own with <code>trellis login</code>:{' '}
            <a href="/vault/device">approve a command line</a>.
          </>
        )}
      </p>
      {issued !== undefined && (
        <OneTimeSecret label="New token. Copy it now; it won’t be shown again." value={issued.value} />
      )}
      <AsyncContent from={tokens}>
        {(list) => (
          <>
            <p class="quiet">{countTokens(list)}</p>
            <ul class="things" hidden={list.length === 0}>
              {list.map((token) => (
                <li key={token.id}>
                  <div>
                    {token.description} {token.consumer !== undefined && <span class="chip">{token.consumer}</span>}
                    <small>
                      {token.status} · expires {formatDate(token.expires_at)} ·{' '}
                      {token.last_used_at === undefined ? 'never used' : `last used ${formatDate(token.last_used_at)}`}
                      {describeAccess(token.access ?? { addresses: token.addresses }).map((limit) => ` · ${limit}`)}
                    </small>
                  </div>
                  <div class="row">
                    {token.allowed_actions?.includes('rotate') && (
                      <ConfirmButton
                        label={`Rotate ${token.description}`}
                        question="Rotate token"
                        onAct={() => rotate(token)}
                      >
                        Rotate
                      </ConfirmButton>
                    )}
                    {token.allowed_actions?.includes('revoke') && (
                      <ConfirmButton
                        class="danger"
                        label={`Revoke ${token.description}`}
                        question="Revoke token"
                        onAct={() => remove(paths.one, token)}
                      >
                        Revoke
                      </ConfirmButton>
                    )}
                    {token.allowed_actions?.includes('purge') && (
                      <ConfirmButton
                        class="danger"
                        label={`Purge ${token.description}`}
                        question="Purge token"
                        onAct={() => remove(paths.purge, token)}
                      >
                        Purge
                      </ConfirmButton>
                    )}
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
      </AsyncContent>
      <NewToken
        kind={kind}
        onCreated={async (token) => {
          setIssued(token);
          await tokens.reload();
        }}
      />
    </section>
  );
}

/** Returns a summary such as "2 active, 1 revoked". */
function countTokens(tokens: readonly Token[]): string {
  if (tokens.length === 0) return 'No tokens';
  const counts = (['active', 'expired', 'revoked'] as const)
    .map((status) => [status, tokens.filter((token) => token.status === status).length] as const)
    .filter(([, count]) => count > 0);
  return counts.map(([status, count]) => `${count} ${status}`).join(', ');
}

/** Returns the limits of a token, each as a short text. */
function describeAccess({ permissions, name_prefix: prefix, tags, consumers, addresses }: Partial<Access>): string[] {
  return [
    ...(permissions ? [`may ${permissions.join(', ')}`] : []),
    ...(prefix === undefined ? [] : [`names ${prefix}…`]),
    ...(tags ? [`tags ${tags.join(', ')}`] : []),
    ...(consumers ? [`consumers ${consumers.join(', ')}`] : []),
    ...(addresses ? [`from ${addresses.join(', ')}`] : []),
  ];
}

interface NewTokenProps {
  readonly kind: Kind;
  readonly onCreated: (token: IssuedToken) => Promise<void>;
}

const DAY_SECONDS = 86_400;

function NewToken({ kind, onCreated }: NewTokenProps) {
  const [description, setDescription] = useState('');
  const [consumer, setConsumer] = useState('');
  const [days, setDays] = useState('90');
  const [limits, setLimits] = useState(NO_LIMITS);
  const create = async (): Promise<void> => {
    const body = { description, ttl_seconds: Number(days) * DAY_SECONDS };
    const access = toAccess(limits);
    const { addresses } = access;
    const created =
      kind === 'write'
        ? requireData(
            await secretsClient.POST('/tokens', {
              body: { ...body, ...(Object.keys(access).length > 0 && { access }) },
            }),
          )
        : requireData(
            await secretsClient.POST('/consumer-tokens', {
              body: { ...body, consumer: consumer.trim(), ...(addresses && { addresses }) },
            }),
          );
    setDescription(clearSent(description));
    setLimits(NO_LIMITS);
    await onCreated(created);
  };
  return (
    <Form verb={`Create ${kind} token`} onSave={create}>
      {kind === 'consumer' && (
        <Field
          label="Consumer"
          required
          maxLength={128}
          placeholder="acme/shop"
          value={consumer}
          onValue={setConsumer}
        />
      )}
      <Field label="Description" required maxLength={200} value={description} onValue={setDescription} />
      <Field label="Expires in (days)" type="number" required min={1} max={365} value={days} onValue={setDays} />
      <TokenLimits kind={kind} limits={limits} onLimits={setLimits} />
    </Form>
  );
}

/** The limits of a new token, as the user types them. */
export interface Limits {
  readonly permissions: readonly Permission[];
  readonly prefix: string;
  readonly tags: string;
  readonly consumers: string;
  readonly addresses: string;
}

type Permission = components['schemas']['TokenPermission'];

const PERMISSIONS: readonly (readonly [Permission, string])[] = [
  ['list', 'List names, labels and the audit log'],
  ['read', 'Read encrypted values'],
  ['write', 'Create and replace secrets'],
  ['manage', 'Delete secrets, manage consumers and their tokens'],
];

export const NO_LIMITS: Limits = {
  permissions: PERMISSIONS.map(([permission]) => permission),
  prefix: '',
  tags: '',
  consumers: '',
  addresses: '',
};

const toList = (text: string, separator: RegExp): string[] =>
  text.split(separator).flatMap((item) => item.trim() || []);

/** Omits the limits that were left empty. @throws Error without a permission. */
export function toAccess({ permissions, prefix, ...texts }: Limits): Access {
  if (permissions.length === 0) throw new Error('Select at least one permission.');
  const [tags, addresses] = [toList(texts.tags, /[\s,]/), toList(texts.addresses, /[\s,]/)];
  // The names of consumers may contain spaces.
  const consumers = toList(texts.consumers, /,/);
  return {
    ...(permissions.length < PERMISSIONS.length && { permissions }),
    ...(prefix !== '' && { name_prefix: prefix }),
    ...(tags.length > 0 && { tags }),
    ...(consumers.length > 0 && { consumers }),
    ...(addresses.length > 0 && { addresses }),
  };
}

interface TokenLimitsProps {
  readonly kind: Kind;
  readonly limits: Limits;
  /** Whether the fields are shown at first. */
  readonly isOpen?: boolean;
  readonly onLimits: (limits: Limits) => void;
}

export function TokenLimits({ kind, limits, isOpen, onLimits }: TokenLimitsProps) {
  const change = (part: Partial<Limits>): void => onLimits({ ...limits, ...part });
  return (
    <details open={isOpen}>
      <summary>Limits</summary>
      {kind === 'write' && (
        <>
          <fieldset class="radios">
            <legend>Permissions</legend>
            {PERMISSIONS.map(([permission, label]) => (
              <label key={permission} class="choice">
                <input
                  type="checkbox"
                  checked={limits.permissions.includes(permission)}
                  onChange={({ currentTarget: { checked } }) =>
                    change({
                      permissions: PERMISSIONS.map(([each]) => each).filter((each) =>
                        each === permission ? checked : limits.permissions.includes(each),
                      ),
                    })
                  }
                />
                {label}
              </label>
            ))}
          </fieldset>
          <Field
            label="Only names that start with"
            maxLength={128}
            value={limits.prefix}
            onValue={(prefix) => change({ prefix })}
          />
          <Field label="Only secrets with one of these tags" value={limits.tags} onValue={(tags) => change({ tags })} />
          <Field
            label="Only secrets of these consumers"
            hint="Separate several names with commas."
            placeholder="acme/shop"
            value={limits.consumers}
            onValue={(consumers) => change({ consumers })}
          />
        </>
      )}
      <Field
        label="Only from these IP addresses"
        hint="Separate several addresses or ranges with spaces, such as 10.0.0.0/8."
        value={limits.addresses}
        onValue={(addresses) => change({ addresses })}
      />
    </details>
  );
}
