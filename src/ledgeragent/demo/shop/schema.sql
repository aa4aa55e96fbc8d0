-- Fern & Fennel, a garden shop that sells by mail. Amounts are in euros.
PRAGMA foreign_keys = ON;

CREATE TABLE customers (
    customer_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE COLLATE NOCASE,
    street TEXT NOT NULL,
    postcode TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL
);

CREATE TABLE products (
    sku TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('plant', 'seed', 'tool', 'pot')),
    price REAL NOT NULL CHECK (price > 0),
    stock INTEGER NOT NULL CHECK (stock >= 0)
);

CREATE TABLE orders (
    order_id TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers,
    status TEXT NOT NULL CHECK (status IN ('open', 'packed', 'dispatched', 'delivered', 'cancelled')),
    placed_on TEXT NOT NULL,
    delivery_fee REAL NOT NULL DEFAULT 0,
    refunded REAL NOT NULL DEFAULT 0,
    street TEXT NOT NULL,
    postcode TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL
);

CREATE TABLE order_lines (
    order_id TEXT NOT NULL REFERENCES orders,
    sku TEXT NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    unit_price REAL NOT NULL,
    PRIMARY KEY (order_id, sku)
);

CREATE TABLE parcels (
    parcel_id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL REFERENCES orders,
    carrier TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('on its way', 'delivered', 'lost')),
    delivered_on TEXT
);

CREATE TABLE parcel_items (
    parcel_id TEXT NOT NULL REFERENCES parcels,
    sku TEXT NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    refunded INTEGER NOT NULL DEFAULT 0,
    replaced INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (parcel_id, sku)
);

-- A gift voucher belongs to the customer it was bought for; a promotion is open to everybody.
CREATE TABLE vouchers (
    code TEXT PRIMARY KEY,
    customer_id TEXT REFERENCES customers,
    kind TEXT NOT NULL CHECK (kind IN ('gift', 'promotion')),
    balance REAL NOT NULL CHECK (balance >= 0),
    min_total REAL NOT NULL DEFAULT 0,
    expires_on TEXT NOT NULL
);

CREATE TABLE voucher_uses (
    order_id TEXT NOT NULL REFERENCES orders,
    code TEXT NOT NULL REFERENCES vouchers,
    amount REAL NOT NULL CHECK (amount > 0),
    PRIMARY KEY (order_id, code)
);

CREATE TABLE boxes (
    box_id TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers,
    plan TEXT NOT NULL CHECK (plan IN ('herbs', 'bulbs', 'seeds')),
    price REAL NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'ended')),
    next_box_on TEXT
);
