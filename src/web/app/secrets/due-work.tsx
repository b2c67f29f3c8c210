import { useState } from 'preact/hooks';
import { readAll } from '../../../generated/secrets/client.js';
import { describeProblem } from '../api.js';
import { ActionButton } from '../ui/buttons.js';
import { useResource } from '../ui/resource.js';
import { serverNow } from '../ui/times.js';
import { useIdentityPrompt, useUnlockedIdentity } from './identity/unlock.js';
import type { Identity } from './identity/wrapping.js';
import {
  type ConsumerToken,
  type DueItem,
  findDueWork,
  findExpiring,
  linkToSecret,
  type ObjectMetadata,
  TOKENS_PATH,
} from './metadata.js';
import { secretsClient, toSealingProblem, waitForRateLimit } from './secrets.js';
import { loadStoredValues } from './signatures/load-stored-values.js';

async function listConsumerTokens(): Promise<readonly ConsumerToken[]> {
  const tokens: ConsumerToken[] = [];
  for await (const token of readAll((query) => secretsClient.GET('/consumer-tokens', { params: { query } })))
    tokens.push(token);
  return tokens;
}

/** The list of due work is collapsed to this many entries. */
const SHOWN = 5;

/** Lists secrets to rotate or re-encrypt and tokens that expire soon. It is absent while nothing is due. */
export function DueWork({ objects }: { readonly objects: readonly ObjectMetadata[] }) {
  const tokens = useResource(listConsumerTokens);
  const now = serverNow();
  const due = [
    ...objects.flatMap((object) => findDueWork(object, now) ?? []),
    ...findExpiring(tokens.value ?? [], now),
  ];
  if (due.length === 0) return null;
  const sorted = due.sort((a, b) => a.at - b.at);
  return (
    <section class="due" aria-labelledby="due-work">
      <h2 id="due-work">Due ({due.length})</h2>
      <ul>
        {sorted.slice(0, SHOWN).map(({ href, name, text, isOverdue }) => (
          <li key={`${href} ${name}`}>
            <a href={href}>
              <bdi>{name}</bdi>
            </a>{' '}
            <span class={isOverdue ? 'bad' : 'wait'}>{text}</span>
          </li>
        ))}
      </ul>
      {sorted.length > SHOWN && <Rest items={sorted.slice(SHOWN)} />}
    </section>
  );
}

/** The number of entries that are not shown, and their places. */
function Rest({ items }: { readonly items: readonly DueItem[] }) {
  const tokens = items.filter(({ href }) => href === TOKENS_PATH).length;
  return (
    <p class="quiet">
      and {items.length} more, which are {tokens < items.length && 'first in the list below'}
      {tokens > 0 && (
        <>
          {tokens < items.length && ' or '}on the page <a href={TOKENS_PATH}>Tokens</a>
        </>
      )}
    </p>
  );
}

interface ResealAllProps {
  readonly objects: readonly ObjectMetadata[];
  readonly onChange: () => Promise<void>;
}

interface Failure {
  readonly object: ObjectMetadata;
  readonly reason: string;
}

/** Reseals all secrets whose recipients are out of date, and lists the ones that failed. */
export function ResealAll({ objects, onChange }: ResealAllProps) {
  const [status, setStatus] = useState('');
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const { withIdentity, prompt } = useIdentityPrompt(useUnlockedIdentity());
  const stale = objects.filter(({ reseal }) => reseal !== undefined);
  const work = async (identity: Identity): Promise<void> => {
    const failed = await resealEach(stale, identity, (done) => setStatus(`${done} of ${stale.length} processed …`));
    setFailures(failed);
    setStatus(`${stale.length - failed.length} of ${stale.length} re-encrypted.`);
    await onChange();
  };
  const why = `Unlock your key to re-encrypt ${stale.length === 1 ? 'one secret' : `${stale.length} secrets`}.`;
  return (
    <div class={stale.length > 0 || status !== '' ? 'notes' : ''}>
      {stale.length > 0 && (
        <p>
          {stale.length === 1 ? 'One secret is' : `${stale.length} secrets are`} encrypted to outdated keys.{' '}
          <ActionButton onAct={() => withIdentity({ why, work })}>Re-encrypt</ActionButton>
        </p>
      )}
      {prompt}
      <div role="status">
        {status !== '' && <p>{status}</p>}
        {failures.map(({ object, reason }) => (
          <p key={object.id} class="problem">
            <a href={linkToSecret(object)}>{object.slug}</a>: {reason}
          </p>
        ))}
      </div>
    </div>
  );
}

/** Reseals the secrets one after another, as each sends a write. A failure doesn't stop the others. */
async function resealEach(
  objects: readonly ObjectMetadata[],
  identity: Identity,
  onDone: (count: number) => void,
): Promise<Failure[]> {
  const { resealValue } = await loadStoredValues();
  const failed: Failure[] = [];
  for (const [index, object] of objects.entries()) {
    await waitForRateLimit(() => resealValue(object, identity)).catch((error: unknown) =>
      failed.push({ object, reason: describeProblem(toSealingProblem(error)) }),
    );
    onDone(index + 1);
  }
  return failed;
}
