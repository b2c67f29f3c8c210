import { useState } from 'preact/hooks';
import type { components } from '../../../generated/secrets/client.js';
import { readAll } from '../../../generated/secrets/client.js';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Loaded } from '../shell/loaded.js';
import { ShownOnce } from '../shell/shown-once.js';
import { toDay } from '../shell/times.js';
import { useResource } from '../shell/use-resource.js';
import { VaultFrame } from './vault-frame.js';

type Token = components['schemas']['TokenMetadata'] & { readonly consumer?: string };

/** Both kinds are kept, shown and ended alike; they differ in where they are asked for. */
const KINDS = {
  write: {
    title: 'Write tokens',
    about: 'For whoever puts secrets here: they may do everything but make tokens of this kind.',
    paths: { list: '/tokens', one: '/tokens/{id}', rotate: '/tokens/{id}/rotate', purge: '/tokens/{id}/purge' },
  },
  consumer: {
    title: 'Consumer tokens',
    about: 'For a consumer: one reads the sealed secrets of that consumer, and nothing else.',
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
  write: () => collect(readAll((query) => secrets.GET('/tokens', { params: { query } }))),
  consumer: () => collect(readAll((query) => secrets.GET('/consumer-tokens', { params: { query } }))),
};

/** All pages of a list, so that it can be counted. */
async function collect(tokens: AsyncIterable<Token>): Promise<readonly Token[]> {
  const all: Token[] = [];
  for await (const token of tokens) all.push(token);
  return all;
}

export function TokensPage() {
  return (
    <VaultFrame title="Tokens">
      <Tokens kind="consumer" />
      <Tokens kind="write" />
    </VaultFrame>
  );
}

function Tokens({ kind }: { readonly kind: Kind }) {
  const { title, about, paths } = KINDS[kind];
  const tokens = useResource(LOADERS[kind]);
  const [made, setMade] = useState<string>();
  const end = async (path: (typeof paths)['one'] | (typeof paths)['purge'], { id }: Token): Promise<void> => {
    requireAnswer(await secrets.DELETE(path, { params: { path: { id } } }));
    setMade(undefined);
    await tokens.reload();
  };
  const rotate = async ({ id }: Token): Promise<void> => {
    const { value } = requireAnswer(await secrets.POST(paths.rotate, { params: { path: { id } }, body: {} }));
    setMade(value);
    await tokens.reload();
  };
  return (
    <section aria-labelledby={`${kind}-tokens`}>
      <h2 id={`${kind}-tokens`}>{title}</h2>
      <p class="quiet">{about}</p>
      {made !== undefined && <ShownOnce label="The token. Copy it now: it is not shown again." value={made} />}
      <Loaded from={tokens}>
        {(list) => (
          <>
            <p class="quiet">{countTokens(list)}</p>
            <ul class="things">
              {list.map((token) => (
                <li key={token.id}>
                  <div>
                    {token.description} {token.consumer !== undefined && <span class="chip">{token.consumer}</span>}
                    <small>
                      {token.status} · until {toDay(token.expires_at)} ·{' '}
                      {token.last_used_at === undefined ? 'never used' : `last used ${toDay(token.last_used_at)}`}
                    </small>
                  </div>
                  <div class="row">
                    {token.allowed_actions?.includes('rotate') && (
                      <ConfirmButton
                        label={`Rotate ${token.description}`}
                        question="Really rotate?"
                        onAct={() => rotate(token)}
                      >
                        Rotate
                      </ConfirmButton>
                    )}
                    {token.allowed_actions?.includes('revoke') && (
                      <ConfirmButton
                        class="danger"
                        label={`Revoke ${token.description}`}
                        question="Really revoke?"
                        onAct={() => end(paths.one, token)}
                      >
                        Revoke
                      </ConfirmButton>
                    )}
                    {token.allowed_actions?.includes('purge') && (
                      <ConfirmButton
                        class="danger"
                        label={`Purge ${token.description}`}
                        question="Really forget it?"
                        onAct={() => end(paths.purge, token)}
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
      </Loaded>
      <NewToken
        kind={kind}
        onMade={async (value) => {
          setMade(value);
          await tokens.reload();
        }}
      />
    </section>
  );
}

/** As "2 active, 1 revoked". */
function countTokens(tokens: readonly Token[]): string {
  if (tokens.length === 0) return 'There are none.';
  const counts = (['active', 'expired', 'revoked'] as const)
    .map((status) => [status, tokens.filter((token) => token.status === status).length] as const)
    .filter(([, count]) => count > 0);
  return counts.map(([status, count]) => `${count} ${status}`).join(', ');
}

interface NewTokenProps {
  readonly kind: Kind;
  readonly onMade: (value: string) => Promise<void>;
}

const DAY_SECONDS = 86_400;

function NewToken({ kind, onMade }: NewTokenProps) {
  const [description, setDescription] = useState('');
  const [consumer, setConsumer] = useState('');
  const [days, setDays] = useState('90');
  const create = async (): Promise<void> => {
    const body = { description, ttl_seconds: Number(days) * DAY_SECONDS };
    const answer =
      kind === 'write'
        ? requireAnswer(await secrets.POST('/tokens', { body }))
        : requireAnswer(await secrets.POST('/consumer-tokens', { body: { ...body, consumer } }));
    setDescription('');
    await onMade(answer.value);
  };
  return (
    <Form verb={`Make a ${kind} token`} onSave={create}>
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
      <Field
        label="What it is for"
        required
        maxLength={200}
        autoComplete="off"
        value={description}
        onValue={setDescription}
      />
      <Field label="For how many days" type="number" required min={1} max={365} value={days} onValue={setDays} />
    </Form>
  );
}
