import { useState } from 'preact/hooks';
import type { components } from '../../../generated/secrets/client.js';
import { requireData } from '../api.js';
import { confirmWithPasskey } from '../sign-in/sign-in.js';
import { ActionButton } from '../ui/buttons.js';
import { Field, Form, FormError, useFormError } from '../ui/form.js';
import { formatTime } from '../ui/times.js';
import { SecretsLayout } from './secrets-layout.js';
import { secretsClient } from './secrets.js';
import { NO_LIMITS, toAccess, TokenLimits } from './tokens-page.js';

type DeviceLogin = components['schemas']['DeviceLogin'];

/** The page on which the owner approves the request of a command line for a token. */
export function DevicePage() {
  const [code, setCode] = useState('');
  const [login, setLogin] = useState<DeviceLogin>();
  const [outcome, setOutcome] = useState<string>();
  const [problem, find] = useFormError(async () => {
    const params = { path: { user_code: code } };
    setLogin(requireData(await secretsClient.GET('/auth/device/requests/{user_code}', { params })));
    setOutcome(undefined);
  });
  const end = (text: string): void => {
    setLogin(undefined);
    setCode('');
    setOutcome(text);
  };
  return (
    <SecretsLayout title="Approve a command line">
      {/* Screen readers announce only changes of a region that already exists. */}
      <p role="status">{outcome}</p>
      {login === undefined ? (
        <Form verb="Continue" onSave={find}>
          <Field
            label="Code"
            hint="trellis login shows it, such as WDJB-MJHT. Never enter a code that someone sent you."
            required
            maxLength={32}
            autoCapitalize="none"
            spellcheck={false}
            value={code}
            onValue={setCode}
          />
          <FormError problem={problem} />
        </Form>
      ) : (
        <Approval code={code} login={login} onEnd={end} />
      )}
    </SecretsLayout>
  );
}

interface ApprovalProps {
  readonly code: string;
  readonly login: DeviceLogin;
  readonly onEnd: (outcome: string) => void;
}

const DAY_SECONDS = 86_400;

function Approval({ code, login, onEnd }: ApprovalProps) {
  const { device_name: device, address, permissions, created_at: createdAt } = login;
  const [description, setDescription] = useState(device ?? '');
  const [days, setDays] = useState('30');
  const [limits, setLimits] = useState({ ...NO_LIMITS, permissions });
  const params = { path: { user_code: code } };
  const [problem, approve] = useFormError(async () => {
    const access = { ...toAccess(limits), permissions: [...limits.permissions] };
    const credential = await confirmWithPasskey();
    const body = { description, ttl_seconds: Number(days) * DAY_SECONDS, access, credential };
    requireData(await secretsClient.POST('/auth/device/requests/{user_code}', { params, body }));
    onEnd('Approved. The command line receives its token within seconds.');
  });
  const deny = async (): Promise<void> => {
    requireData(await secretsClient.DELETE('/auth/device/requests/{user_code}', { params }));
    onEnd('Denied. The command line receives no token.');
  };
  return (
    <>
      <dl>
        <dt>Address</dt>
        <dd>{address}</dd>
        <dt>Name, as the machine gave it</dt>
        <dd>{device ?? 'none'}</dd>
        <dt>Requested at</dt>
        <dd>{formatTime(Date.parse(createdAt))}</dd>
      </dl>
      <p class="notes">
        Approve only if you have just started <code>trellis login</code> on this machine. The token goes to the machine
        that requested it, and its name can be false.
      </p>
      <Form
        verb="Approve with passkey"
        onSave={approve}
        beside={
          <ActionButton class="danger" onAct={deny}>
            Deny
          </ActionButton>
        }
      >
        <Field label="Description of the token" required maxLength={200} value={description} onValue={setDescription} />
        <Field label="Expires in (days)" type="number" required min={1} max={90} value={days} onValue={setDays} />
        <TokenLimits kind="write" limits={limits} isOpen onLimits={setLimits} />
        <FormError problem={problem} />
      </Form>
    </>
  );
}
