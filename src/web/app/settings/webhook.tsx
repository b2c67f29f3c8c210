import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { publicOrigin } from '../server-facts.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { CopyButton } from '../shell/copy-button.js';
import { toMoment } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { GUIDES } from './forge-guides.js';
import type { Settings } from './settings-request.js';

type Rotated = Pick<Settings, 'webhookSecret' | 'webhookToken'>;

interface WebhookProps {
  readonly settings: Settings;
  readonly onRotated: (rotated: Rotated) => void;
}

/** What forges have to be told, so that they tell of changes. A session is always shown both values. */
export function Webhook({ settings: { webhookToken = '', webhookSecret = '' }, onRotated }: WebhookProps) {
  const [formerUntil, setFormerUntil] = useState<string>();
  const rotate = async (): Promise<void> => {
    const { formerUntil: until, ...rotated } = requireAnswer(await dashboard.POST('/api/webhooks/rotate'));
    onRotated(rotated);
    setFormerUntil(until);
    say('The webhooks have another address and secret.');
  };
  return (
    <fieldset>
      <legend>Webhooks by hand</legend>
      <p class="quiet">
        With webhooks a change shows at once. The <a href="/repositories">list of repositories</a> sets them up where
        the token may; elsewhere, choose JSON, and give the forge the address and the secret.
      </p>
      <dl class="webhook">
        {GUIDES.map(({ forge, name }) => (
          <Given
            key={forge}
            name={`Address for ${name}`}
            value={`${publicOrigin || location.origin}/api/webhooks/${forge}/${webhookToken}`}
            what={`the address for ${name}`}
          />
        ))}
        <Secret value={webhookSecret} />
      </dl>
      {formerUntil !== undefined && (
        <p role="status">
          What comes with the former ones is taken until {toMoment(formerUntil)}. Set the webhooks up again until then.
        </p>
      )}
      <div class="acts">
        <ConfirmButton class="danger" question="Really replace both?" onAct={rotate}>
          Replace address and secret
        </ConfirmButton>
      </div>
    </fieldset>
  );
}

interface GivenProps {
  readonly name: string;
  readonly value: string;
  readonly what: string;
  /** Instead of the value. */
  readonly children?: ComponentChildren;
}

const Given = ({ name, value, what, children }: GivenProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {children ?? <code>{value}</code>}
      <CopyButton value={value} what={what} />
    </dd>
  </div>
);

function Secret({ value }: { readonly value: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <Given name="Secret" value={value} what="the secret">
      <code>{isShown ? value : '•'.repeat(12)}</code>
      <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        Show <span class="aside">the secret</span>
      </button>
    </Given>
  );
}
