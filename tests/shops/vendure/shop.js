// One process that seeds and serves a Vendure shop in memory on loopback. Prints READY when it answers.
const crypto = require('crypto');
const path = require('path');
const { populate } = require('@vendure/core/cli');
const {
  bootstrap,
  DefaultLogger,
  DefaultSearchPlugin,
  dummyPaymentHandler,
  LogLevel,
  RandomBytesApiKeyStrategy,
} = require('@vendure/core');

// Checked at every call. The stock strategy (bcrypt) costs 0.4 s of the shop's CPU each time, and a key
// of random bytes needs no slow hash.
const sha256 = (text) => crypto.createHash('sha256').update(text).digest('hex');
const fastHash = { hash: async (text) => sha256(text), check: async (text, hash) => sha256(text) === hash };


const config = {
  apiOptions: {
    port: Number(process.env.SHOP_PORT),
    hostname: '127.0.0.1',
    adminApiPath: 'admin-api',
    shopApiPath: 'shop-api',
  },
  dbConnectionOptions: process.env.SHOP_FILE
    ? { type: 'sqljs', autoSave: true, location: process.env.SHOP_FILE, synchronize: true, logging: false }
    : { type: 'sqljs', autoSave: false, synchronize: true, logging: false },
  authOptions: {
    tokenMethod: ['bearer', 'api-key'],
    superadminCredentials: { identifier: 'superadmin', password: 'test-only' },
    cookieOptions: { secret: 'test-only' },
    adminApiKeyStrategy: new RandomBytesApiKeyStrategy({ hashingStrategy: fastHash }),
  },
  logger: new DefaultLogger({ level: LogLevel.Error }),
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  plugins: [DefaultSearchPlugin.init({ bufferUpdates: false })],
};

const initialData = {
  defaultLanguage: 'en',
  defaultZone: 'Europe',
  roles: [],
  taxRates: [{ name: 'Standard Tax', percentage: 20 }],
  countries: [{ name: 'Germany', code: 'DE', zone: 'Europe' }],
  shippingMethods: [],
  paymentMethods: [],
  collections: [],
};

populate(() => bootstrap(config), initialData, path.resolve(process.env.SHOP_CSV))
  .then((app) => {
    process.on('SIGTERM', () => app.close().then(() => process.exit(0)));
    console.log('READY');
  })
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
